import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { serveControl } from "../control.mjs";
import { createServer } from "./sdk1.mjs";

await createServer().connect(new StdioServerTransport());
serveControl({ tool: "echo" });
