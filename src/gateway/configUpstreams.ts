import { toNamespace } from "../core/names.ts";
import { maxTimerMs } from "./configLimits.ts";
import { readAddress, readCommand, targetFields } from "./configTarget.ts";
import type { ConfigMember, ConfigValue } from "./configValue.ts";
import { nearest } from "./nearest.ts";
import { builtinNamespace, type Isolation, type UpstreamConfig } from "./types.ts";

export interface UpstreamsOptions {
  /** Absolute: what a relative `cwd` is relative to. */
  readonly folder: string;
  /** The built-in tools are served, so that their namespace is taken. */
  readonly builtinTaken: boolean;
}

export interface ReadUpstreams {
  readonly upstreams: readonly UpstreamConfig[];
  /** Keys that became another namespace, in the order of the text. */
  readonly renamed: readonly { readonly key: string; readonly namespace: string }[];
  /** Fields of other programs, as `fs.autoApprove`. */
  readonly ignored: readonly string[];
}

const own = ["timeoutMs", "startTimeoutMs", "validateArguments", "isolation"] as const;
const switches = ["disabled", "enabled"] as const;
const fieldNames: readonly string[] = [...targetFields, ...own, ...switches];
const isolations: readonly Isolation[] = ["shared", "principal"];
/** What Gemini CLI and Windsurf call `url`. */
const urlAliases: readonly string[] = ["httpUrl", "serverUrl"];

type Fields = Partial<Record<(typeof targetFields | typeof own | typeof switches)[number], ConfigValue>>;

/** Reads `mcpServers`. Entries that are switched off are left out unread, so that their secrets may be missing. */
export function readUpstreams(section: ConfigValue | undefined, options: UpstreamsOptions): ReadUpstreams {
  const upstreams: UpstreamConfig[] = [];
  const renamed: { key: string; namespace: string }[] = [];
  const ignored: string[] = [];
  const owners = new Map<string, string>();
  for (const [key, member] of section?.members() ?? []) {
    const unknown: string[] = [];
    const unset = new Set<string>();
    const entry = member.value.withUnset((name) => unset.add(name));
    const fields = readFields(entry, unknown);
    ignored.push(...unknown.map((name) => `${key}.${name}${didYouMean(name)}`));
    if (!fields || isOff(fields)) continue;
    const namespace = takeNamespace(key, member, owners, options);
    if (namespace !== key) renamed.push({ key, namespace });
    const upstream = readEntry(entry, fields, { key, namespace, folder: options.folder, unknown });
    if (unset.size > 0) upstreams.push({ kind: "broken", key, namespace, reason: explainUnset([...unset]) });
    else if (upstream) upstreams.push(upstream);
  }
  return { upstreams, renamed, ignored };
}

function explainUnset(names: readonly string[]): string {
  const what = names.length === 1 ? "variable" : "variables";
  const [are, them] = names.length === 1 ? ["is", "it"] : ["are", "them"];
  return `the environment ${what} ${names.join(", ")} ${are} not set. Set ${them}, or set "disabled": true.`;
}

function readFields(entry: ConfigValue, unknown: string[]): Fields | undefined {
  const members = entry.members();
  if (!members) return undefined;
  const fields: Record<string, ConfigValue> = {};
  for (const [name, { value, failKey }] of members) {
    const field = urlAliases.includes(name) ? "url" : name;
    if (!fieldNames.includes(field)) unknown.push(name);
    else if (fields[field]) failKey('is another word for "url", which is there as well. Remove one of them.');
    else fields[field] = value;
  }
  return fields;
}

/** ` (did you mean "args"?)`, or nothing. */
function didYouMean(name: string): string {
  const meant = nearest(name, fieldNames);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

function isOff({ disabled, enabled }: Fields): boolean {
  // Both are read, so that a mistake in either is seen.
  const off = disabled?.boolean() ?? false;
  return !(enabled?.boolean() ?? true) || off;
}

function takeNamespace(
  key: string,
  member: ConfigMember,
  owners: Map<string, string>,
  options: UpstreamsOptions,
): string {
  const namespace = toNamespace(key);
  const owner = owners.get(namespace);
  if (key === "") member.failKey("is an empty name. Name the server.");
  else if (owner !== undefined)
    member.failKey(`has the same namespace "${namespace}" as the server "${owner}". Rename one of them.`);
  else if (options.builtinTaken && namespace === builtinNamespace)
    member.failKey('is the namespace of the built-in tools. Rename this server, or remove "tools".');
  owners.set(namespace, key);
  return namespace;
}

interface EntryPlace {
  readonly key: string;
  readonly namespace: string;
  readonly folder: string;
  /** Fields that are not known here: one of them may be the missing one, misspelt. */
  readonly unknown: readonly string[];
}

function readEntry(entry: ConfigValue, fields: Fields, place: EntryPlace): UpstreamConfig | undefined {
  const target = readTarget(entry, fields, place);
  const timeoutMs = fields.timeoutMs?.integer({ min: 1, max: maxTimerMs });
  const startTimeoutMs = fields.startTimeoutMs?.integer({ min: 1, max: maxTimerMs });
  const base = {
    key: place.key,
    namespace: place.namespace,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(startTimeoutMs !== undefined && { startTimeoutMs }),
    validateArguments: fields.validateArguments?.boolean() ?? false,
    isolation: fields.isolation?.oneOf(isolations) ?? "shared",
  };
  return target && { ...base, ...target };
}

function readTarget(
  entry: ConfigValue,
  fields: Fields,
  { folder, unknown }: EntryPlace,
): ReturnType<typeof readCommand> | ReturnType<typeof readAddress> {
  const { command, url } = fields;
  if (command && url) return entry.fail('has both "command" and "url". Remove one of them.');
  if (command) return readCommand(command, fields, folder);
  if (url) return readAddress(url, fields);
  const meant = unknown.filter((name) => nearest(name, ["command", "url"]));
  const hint = meant.map((name) => ` It has "${name}"${didYouMean(name)}.`).join("");
  return entry.fail(`needs a "command" that starts a server, or the "url" where one is served.${hint}`);
}
