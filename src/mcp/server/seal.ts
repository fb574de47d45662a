import { isObject, type JsonObject } from "../../core/json.ts";
import type { Operation } from "../../core/operation.ts";

/** What is in a state that goes down to a client (specification 2026-07-28, basic/patterns/mrtr, Server Requirements). */
export interface SealedState {
  readonly principal: string;
  /** Of the operation that the state belongs to, see `digestOf`. */
  readonly digest: string;
  /** By the clock of this process. */
  readonly expires: number;
  /** Where a call waits for its answers. */
  readonly held?: string;
  /** Who asked for input, and the state it gave. */
  readonly asked?: { readonly canonicalName: string; readonly requestState?: string };
}

const ivBytes = 12;
/** As many arguments as any runtime lets a function have. */
const pieceBytes = 8_192;

/** Seals states with a key of this process: what comes back was made here, and nobody has read it on the way (AES-256-GCM). */
export class Seal {
  readonly #key = crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);

  async close(state: SealedState): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
    const plain = new TextEncoder().encode(JSON.stringify(state));
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await this.#key, plain);
    const bytes = new Uint8Array(ivBytes + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), ivBytes);
    return toBase64Url(bytes);
  }

  /** Undefined for anything that was not made here. */
  async open(text: string): Promise<SealedState | undefined> {
    const bytes = fromBase64Url(text);
    if (!bytes || bytes.length <= ivBytes) return undefined;
    const [iv, sealed] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes)];
    try {
      const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, await this.#key, sealed);
      // The last character may have bits that say nothing: one state has one text.
      if (toBase64Url(bytes) !== text) return undefined;
      return JSON.parse(new TextDecoder().decode(plain)) as SealedState;
    } catch {
      return undefined;
    }
  }
}

/** One text for one operation, whatever the order of its members. */
export async function digestOf({ kind, name, arguments: args }: Operation): Promise<string> {
  const text = JSON.stringify([kind, name, sorted(args)]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toBase64Url(new Uint8Array(hash));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const copy: JsonObject = Object.create(null);
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]);
  return copy;
}

function toBase64Url(bytes: Uint8Array): string {
  // In pieces: byte by byte a state as long as a message takes seconds, in which nothing else runs.
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + pieceBytes)));
  return btoa(pieces.join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  // Written out: `Uint8Array.from` takes a hundred times as long, and a state may be as long as a message.
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
