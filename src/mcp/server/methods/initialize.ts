import { isObject, type JsonObject } from "../../../core/json.ts";
import type { ClientInfo } from "../../../core/principal.ts";
import { legacyVersions } from "../../../wire/protocol.ts";
import { aboutOf, extensionsOf } from "../capabilities.ts";
import { invalidParams, type Method } from "../method.ts";
import { endSubscriptions } from "../subscriptions.ts";

/** A session keeps them for long, and there may be many: in UTF-16 units, as JSON. */
const maxCapabilities = 64 * 1024;
/** Longer ones are no names, in UTF-16 units. */
const maxText = 1_000;

/** Opens a legacy session (specification 2025-11-25, basic/lifecycle, Initialization): a supported version is echoed, else the newest is offered. */
export const initialize: Method = async (server, { params, exchange }) => {
  const { protocolVersion: asked, clientInfo, capabilities } = params;
  if (typeof asked !== "string") throw invalidParams("initialize: params.protocolVersion must be a string");
  if (isObject(capabilities) && JSON.stringify(capabilities).length > maxCapabilities)
    throw invalidParams(`initialize: params.capabilities has ${maxCapabilities} characters at most`);
  const protocolVersion = legacyVersions.find((version) => version === asked) ?? legacyVersions[0];
  const client = toClientInfo(clientInfo);
  const about = await aboutOf(server, "legacy");
  if (exchange.session) {
    endSubscriptions(exchange.session, "the session was opened again");
    exchange.session.legacy = {
      protocolVersion,
      capabilities: isObject(capabilities) ? clientCapabilities(capabilities) : {},
      subscriptions: new Map(),
      ...(client && { client }),
    };
  }
  return { protocolVersion, serverInfo: server.serverInfo, ...about };
};

function clientCapabilities(declared: JsonObject): JsonObject {
  const { extensions } = declared;
  return isObject(extensions) ? { ...declared, extensions: extensionsOf(extensions, "legacy") } : declared;
}

/** Undefined where the client says nothing usable of itself: it is for display only. */
export function toClientInfo(value: unknown): ClientInfo | undefined {
  if (!isObject(value)) return undefined;
  const { name, version, title } = value;
  if (!isText(name) || !isText(version)) return undefined;
  return isText(title) ? { name, version, title } : { name, version };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxText;
}
