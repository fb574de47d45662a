import { expect, test } from "vitest";
import { upstreamEnv } from "./upstreamEnv.ts";

test("an upstream gets what programs need, what its entry names, and no secret of ours", () => {
  const env = upstreamEnv(
    { API_KEY: "named", PATH: "/own" },
    { PATH: "/usr/bin", HOME: "/home/ada", LC_TIME: "C", AWS_SECRET_ACCESS_KEY: "secret", TERM: undefined },
  );
  expect(env).toEqual({ PATH: "/own", HOME: "/home/ada", LC_TIME: "C", API_KEY: "named" });
});

test("an exported shell function is not passed on", () => {
  expect(upstreamEnv({}, { LC_ALL: "() { evil; }" })).toEqual({});
});

test("the proxy to go through and the certificates to trust are passed on", () => {
  const env = { https_proxy: "http://proxy:3128", NO_PROXY: "localhost", NODE_EXTRA_CA_CERTS: "/ca.pem" };
  expect(upstreamEnv({}, env)).toEqual(env);
});
