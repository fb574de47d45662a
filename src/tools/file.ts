import type { FileHandle } from "node:fs/promises";
import type { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { ToolResult, type ToolOutput } from "../core/result.ts";
import { defineTool, type Tool } from "../core/tool.ts";
import { shown } from "../guard/fileErrors.ts";
import { openWorkspace } from "../guard/openWorkspace.ts";
import type { Workspace } from "../guard/workspace.ts";
import { decodeText, imageType } from "./fileContent.ts";

export interface FileToolsOptions {
  /** How much of a text file is read, in bytes; 102,400 by default. */
  readonly readLimitBytes?: number;
  /** The largest image that is answered as one, in bytes of the file; 5 MiB by default. */
  readonly imageLimitBytes?: number;
}

type Limits = Required<FileToolsOptions>;

const pathSchema = {
  type: "string",
  description: "Path of the file, relative to the workspace's root.",
} as const;

/** The tools for the files of the call's workspace (`ToolContext.workspacePath`); nothing outside it can be reached. */
export function createFileTools(options: FileToolsOptions = {}): Tool[] {
  return [
    createFileRead({ readLimitBytes: 102_400, imageLimitBytes: 5 * 1024 * 1024, ...options }),
    fileWrite(),
  ];
}

function createFileRead(limits: Limits): Tool {
  return defineTool({
    name: "file_read",
    title: "Read a file",
    description: `Reads a text file of the workspace, at most its first ${limits.readLimitBytes} bytes. Images (PNG, JPEG, GIF, WebP) are shown.`,
    inputSchema: {
      type: "object",
      properties: { path: pathSchema },
      required: ["path"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    capabilities: { filesystem: "read" },
    async execute({ path }, ctx) {
      const file = await workspaceOf(ctx).openRead(path);
      try {
        return await present(file, path, limits);
      } finally {
        await file.close();
      }
    },
  });
}

function fileWrite(): Tool {
  return defineTool({
    name: "file_write",
    title: "Write a file",
    description:
      "Writes a text file of the workspace: creates it, with any folders that are missing, or replaces all of its content.",
    inputSchema: {
      type: "object",
      properties: { path: pathSchema, content: { type: "string", description: "The whole new content." } },
      required: ["path", "content"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    capabilities: { filesystem: "read-write" },
    async execute({ path, content }, ctx) {
      await workspaceOf(ctx).writeFile(path, content, { createFolders: true, signal: ctx.signal });
      return `Wrote ${Buffer.byteLength(content)} bytes to ${shown(path)}`;
    },
  });
}

function workspaceOf(ctx: ToolContext): Workspace {
  if (ctx.workspacePath !== undefined) return openWorkspace(ctx.workspacePath);
  throw new ToolError(
    "Unsupported",
    "This call has no workspace, and files are reached in one only: set workspacePath to an absolute folder in the context of the call.",
  );
}

async function present(file: FileHandle, path: string, limits: Limits): Promise<ToolOutput> {
  const { size } = await file.stat();
  const cut = size > limits.readLimitBytes;
  const head = await readHead(file, Math.min(size, limits.readLimitBytes));
  const text = decodeText(head, { cut });
  if (text === undefined) return presentBinary(file, { path, size, type: imageType(head) }, limits);
  if (!cut) return text;
  const newline = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${newline}[File truncated from ${size} to ${limits.readLimitBytes} bytes]`;
}

interface Binary {
  readonly path: string;
  readonly size: number;
  readonly type: string | undefined;
}

async function presentBinary(
  file: FileHandle,
  { path, size, type }: Binary,
  { imageLimitBytes }: Limits,
): Promise<ToolResult> {
  if (type === undefined)
    return ToolResult.error(`${shown(path)} is a binary file (${size} bytes): it cannot be shown as text.`);
  if (size > imageLimitBytes)
    return ToolResult.error(
      `${shown(path)} is a binary file (${size} bytes, ${type}): images are shown up to ${imageLimitBytes} bytes.`,
    );
  const data = (await readHead(file, size)).toString("base64");
  return { content: [{ type: "image", data, mimeType: type }] };
}

/** The file's first `bytes`, or fewer where it has become shorter. */
async function readHead(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await file.read(buffer, filled, bytes - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
