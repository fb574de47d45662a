import { isObject, type JsonObject } from "../../../core/json.ts";
import { tasksExtension, type TaskMethod } from "../../../core/tasks.ts";
import { RpcError, rpcErrors } from "../../../wire/jsonrpc.ts";
import { methodNotFound } from "../../../wire/peer.ts";
import { aboutOf } from "../capabilities.ts";
import { invalidParams, type Method, type MethodRequest, type Server } from "../method.ts";
import { performRaw } from "../performRaw.ts";

/** A method of the tasks extension: whoever made the task answers, in its own terms. */
function task(kind: TaskMethod): Method {
  return async (server, request) => {
    await requireTasks(server, request);
    const { _meta: _, taskId, ...rest } = request.params;
    if (typeof taskId !== "string") throw invalidParams(`${kind}: params.taskId must be a string`);
    return performRaw(server, request, { kind, name: taskId, arguments: rest });
  };
}

export const tasksGet = task("tasks/get");
export const tasksUpdate = task("tasks/update");
export const tasksCancel = task("tasks/cancel");

/** Both sides must have the extension. Throws `RpcError`. */
async function requireTasks(server: Server, { message, clientCapabilities }: MethodRequest): Promise<void> {
  const { capabilities } = await aboutOf(server);
  if (!names(capabilities)) throw methodNotFound(message.method, 404);
  if (names(clientCapabilities)) return;
  throw new RpcError(
    rpcErrors.missingClientCapability,
    `${message.method} is for clients that declare the extension ${tasksExtension}.`,
    { data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } }, status: 400 },
  );
}

function names({ extensions }: JsonObject): boolean {
  return isObject(extensions) && extensions[tasksExtension] !== undefined;
}
