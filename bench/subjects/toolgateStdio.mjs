import { openDoors } from "toolgate/gateway";
import { serveControl } from "../control.mjs";
import { createSubject } from "./toolgate.mjs";

const { tool, ...subject } = await createSubject();
await openDoors({ ...subject, stdio: { input: process.stdin, output: process.stdout } });
serveControl({ tool });
