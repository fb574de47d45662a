import { openDoors } from "toolgate/gateway";
import { serveControl } from "../control.mjs";
import { createSubject } from "./toolgate.mjs";

const { tool, ...subject } = await createSubject();
const token = "a-token-of-the-benchmark";
const http = { host: "127.0.0.1", port: 0, tokens: new Map([["bench", token]]) };
const { url } = await openDoors({ ...subject, http });
serveControl({ url, tool, token });
