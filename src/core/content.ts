import type { JsonObject, Meta } from "./json.ts";

/** Hints about audience (`user`, `assistant`), priority (0 to 1) and `lastModified` (ISO 8601). */
export type Annotations = JsonObject;

interface Block {
  annotations?: Annotations;
  _meta?: Meta;
}

export interface TextContent extends Block {
  type: "text";
  text: string;
}

/** `data` is base64. */
export interface ImageContent extends Block {
  type: "image";
  data: string;
  mimeType: string;
}

/** `data` is base64. */
export interface AudioContent extends Block {
  type: "audio";
  data: string;
  mimeType: string;
}

export interface ResourceLink extends Block {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}

export interface EmbeddedResource extends Block {
  type: "resource";
  resource: ResourceContents;
}

/** Either `text` or `blob` (base64) is there. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Meta;
}

/**
 * One block of a tool's answer, in MCP's form (specification 2026-07-28, server/tools, Tool Result).
 * A block from an upstream may hold fields or a `type` that are not named here: they pass unchanged.
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
