import type { Era } from "../../wire/protocol.ts";
import type { Method } from "./method.ts";
import { completionComplete } from "./methods/complete.ts";
import { discover } from "./methods/discover.ts";
import { initialize } from "./methods/initialize.ts";
import { promptsList, resourcesList, resourceTemplatesList, toolsList } from "./methods/lists.ts";
import { subscriptionsListen } from "./methods/listen.ts";
import { ping } from "./methods/ping.ts";
import { promptsGet } from "./methods/prompts.ts";
import { resourcesRead, resourcesSubscribe, resourcesUnsubscribe } from "./methods/resources.ts";
import { setLevel } from "./methods/setLevel.ts";
import { tasksCancel, tasksGet, tasksUpdate } from "./methods/tasks.ts";
import { toolsCall } from "./methods/toolsCall.ts";

const both: readonly (readonly [string, Method])[] = [
  ["tools/list", toolsList],
  ["tools/call", toolsCall],
  ["prompts/list", promptsList],
  ["prompts/get", promptsGet],
  ["resources/list", resourcesList],
  ["resources/templates/list", resourceTemplatesList],
  ["resources/read", resourcesRead],
  ["completion/complete", completionComplete],
];

/** What there is to be asked, in each era. */
export const methods: Readonly<Record<Era, ReadonlyMap<string, Method>>> = {
  legacy: new Map([
    ...both,
    ["initialize", initialize],
    ["ping", ping],
    ["logging/setLevel", setLevel],
    ["resources/subscribe", resourcesSubscribe],
    ["resources/unsubscribe", resourcesUnsubscribe],
  ]),
  modern: new Map([
    ...both,
    ["server/discover", discover],
    ["subscriptions/listen", subscriptionsListen],
    ["tasks/get", tasksGet],
    ["tasks/update", tasksUpdate],
    ["tasks/cancel", tasksCancel],
  ]),
};
