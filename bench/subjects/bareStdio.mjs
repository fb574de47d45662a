// The floor over stdio: split lines, parse, echo, encode.
import { serveControl } from "../control.mjs";

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    const result = { content: [{ type: "text", text: params.arguments.message }] };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  }
});
serveControl({ tool: "echo" });
