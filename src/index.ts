// What runs in any JavaScript runtime: no Node built-in, no side effect.
export { defineTool } from "./core/tool.ts";
export type {
  ArgumentsOf,
  Capabilities,
  StandardSchemaWithJson,
  Tool,
  ToolAnnotations,
  ToolDefinition,
  ToolSpec,
} from "./core/tool.ts";
export { ToolContext } from "./core/context.ts";
export type { Answers, InputRequest, LogEntry, Progress, ToolContextInit } from "./core/context.ts";
export { Cancellation } from "./core/cancellation.ts";
export { isToolResult, ToolResult } from "./core/result.ts";
export type { InputRequired, OperationResult, RawResult, ToolOutput } from "./core/result.ts";
export type {
  Annotations,
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "./core/content.ts";
export { ToolError, toolErrorCodes } from "./core/errors.ts";
export type { ToolErrorCode, ToolErrorOptions } from "./core/errors.ts";
export type {
  ApprovalDecision,
  ApprovalHandler,
  ApprovalRequest,
  Clock,
  Log,
  LogLevel,
  SandboxConfig,
  Timer,
  Validator,
} from "./core/effects.ts";
export { systemClock } from "./core/systemClock.ts";
export { localPrincipal } from "./core/principal.ts";
export type { ClientInfo, Principal } from "./core/principal.ts";
export type {
  Caller,
  Item,
  ItemKind,
  Middleware,
  Next,
  Operation,
  OperationKind,
  Outcome,
  ResolvedOperation,
  Resolver,
} from "./core/operation.ts";
export type {
  CompletionRequest,
  ListKind,
  PromptProvider,
  ProviderInfo,
  ResourceProvider,
  Subscriber,
  TaskProvider,
  ToolFacts,
  ToolProvider,
} from "./core/provider.ts";
export { exposedName, isNamespace, joinName, splitName, toNamespace } from "./core/names.ts";
export { createCaller } from "./runtime/call.ts";
export type { CallerOptions } from "./runtime/call.ts";
export { hooks } from "./runtime/hooks.ts";
export type { HookCall, Hooks } from "./runtime/hooks.ts";
export { ToolRegistry } from "./runtime/registry.ts";
export type { AnthropicToolDefinition, OpenAIToolDefinition } from "./runtime/registry.ts";
export { BuiltinToolProvider } from "./providers/builtin.ts";
export type { Dispatch } from "./providers/builtin.ts";
export { CompositeToolProvider } from "./providers/composite.ts";
export { Mount } from "./providers/mount.ts";
export { createAjvValidator } from "./schema/ajvValidator.ts";
export { concurrency } from "./middleware/concurrency.ts";
export { freeze } from "./middleware/freeze.ts";
export { resultSize } from "./middleware/resultSize.ts";
export { taskOwners } from "./middleware/taskOwners.ts";
export { timeout } from "./middleware/timeout.ts";
export { validate } from "./middleware/validate.ts";
export { McpServerShell } from "./mcp/server/shell.ts";
export type { ShellOptions } from "./mcp/server/shell.ts";
