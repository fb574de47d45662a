import { expect, test } from "vitest";
import { didYouMean, nearest } from "./nearest.ts";

test("finds a slip of the keyboard, whatever its case", () => {
  expect(nearest("comand", ["args", "command", "cwd"])).toBe("command");
  expect(nearest("timeoutMS", ["startTimeoutMs", "timeoutMs"])).toBe("timeoutMs");
  expect(nearest("call", ["tools", "call"])).toBe("call");
});

test("suggests nothing where nothing is alike", () => {
  expect(nearest("policy", ["mcpServers", "tools", "limits"])).toBeUndefined();
  expect(nearest("", ["a"])).toBe("a");
  expect(nearest("x", [])).toBeUndefined();
});

test("makes a sentence of it", () => {
  expect(didYouMean("serv", ["serve"])).toBe(' Did you mean "serve"?');
  expect(didYouMean("zebra", ["serve"])).toBe("");
});
