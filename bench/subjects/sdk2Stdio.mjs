import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { serveControl } from "../control.mjs";
import { createServer } from "./sdk2.mjs";

serveStdio(createServer);
serveControl({ tool: "echo" });
