import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Made anew by each process: a state does not outlive its server. */
const key = randomBytes(32);

const sign = (payload) => createHmac("sha256", key).update(payload).digest();

/** Any JSON value as a text that only `open` of the same process takes. */
export function seal(value) {
  const payload = Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${payload}.${sign(payload).toString("base64url")}`;
}

/** What was sealed; undefined for any text that `seal` did not make. */
export function open(state) {
  const [payload, signature, ...more] = state.split(".");
  if (signature === undefined || more.length > 0) return undefined;
  const given = Buffer.from(signature, "base64url");
  const wanted = sign(payload);
  // `Buffer.from` skips what is no base64url: the text has to be the one that was given out.
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (!isOurs || signature !== wanted.toString("base64url")) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}
