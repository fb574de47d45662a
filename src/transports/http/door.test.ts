import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Door } from "./door.ts";

const door = new Door({
  host: "192.168.7.7",
  allowedHosts: ["Gateway.LAN", "other.lan:7070"],
  allowedOrigins: ["https://app.example"],
});

describe("Host", () => {
  test.each([
    "localhost",
    "LOCALHOST:7070",
    "127.0.0.1:7070",
    "127.8.9.1",
    "[::1]",
    "[::1]:65535",
    "192.168.7.7:7070",
    "gateway.lan:1",
    "other.lan:7070",
  ])("%s is expected", (host) => {
    expect(door.allowsHost(host)).toBe(true);
    expect(door.allowsHost(host)).toBe(true);
  });

  test.each([
    "",
    "evil.example",
    "evil.example:7070",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "other.lan",
    "other.lan:7071",
    "localhost:7070:7070",
    "localhost:",
    "user@localhost",
    "evil.example/localhost",
    "::1",
    "[::2]",
    "0.0.0.0:7070",
  ])("%j is not", (host) => {
    expect(door.allowsHost(host)).toBe(false);
  });

  test("an IPv6 address that the server is bound to", () => {
    expect(new Door({ host: "fd00::7" }).allowsHost("[fd00::7]:7070")).toBe(true);
  });

  test("one that passed does not let the next one in", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(door.allowsHost("localhost")).toBe(true);
        expect(door.allowsHost(name)).toBe(false);
      }),
    );
  });
});

describe("Origin", () => {
  test.each([
    ["http://127.0.0.1:7070", "127.0.0.1:7070"],
    ["http://localhost:7070", "LOCALHOST:7070"],
    ["http://[::1]:7070", "[::1]:7070"],
    ["https://app.example", "127.0.0.1:7070"],
    ["https://APP.example", "gateway.lan"],
  ])("%s may call %s", (origin, host) => {
    expect(door.allowsOrigin(origin, host)).toBe(true);
  });

  test.each([
    ["null", "localhost"],
    ["", "localhost"],
    ["http://localhost:3000", "localhost:7070"],
    ["http://localhost:7070", "127.0.0.1:7070"],
    ["http://gateway.lan", "gateway.lan"],
    ["http://app.example", "localhost"],
    ["https://app.example.evil.example", "localhost"],
    ["https://app.example, https://evil.example", "localhost"],
  ])("%j may not call %s", (origin, host) => {
    expect(door.allowsOrigin(origin, host)).toBe(false);
  });
});
