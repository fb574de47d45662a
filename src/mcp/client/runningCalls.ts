import { Bag, type BagMember } from "../../core/bag.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { ToolContext } from "../../core/context.ts";
import type { RequestId } from "../../wire/jsonrpc.ts";

/** What a caller has asked of a server and not had answered. */
export class RunningCall implements BagMember {
  readonly ctx: ToolContext;
  /** Grows from call to call. */
  readonly order: number;
  /** Of its request, once that is on its way; another where it was sent again. */
  id: RequestId | undefined;
  bagIndex = -1;
  #questions: Cancellation | undefined;

  constructor(ctx: ToolContext, order: number) {
    this.ctx = ctx;
    this.order = order;
  }

  /** Cancelled when the call is over: what the server has asked in its course wants no answer then. */
  get questions(): Cancellation {
    return (this.#questions ??= new Cancellation());
  }

  end(): void {
    this.#questions?.cancel("the call is over");
  }
}

/** Why a message belongs to no call: nothing runs, or calls of several principals do and nobody knows which it is. */
export type NoOwner = "none" | "several";

/** The calls in flight on one connection, to find the one that a message from the server belongs to. */
export class RunningCalls {
  readonly #calls = new Bag<RunningCall>();
  #entered = 0;

  enter(ctx: ToolContext): RunningCall {
    const call = new RunningCall(ctx, ++this.#entered);
    this.#calls.add(call);
    return call;
  }

  leave(call: RunningCall): void {
    this.#calls.delete(call);
    call.end();
  }

  /**
   * The call whose request is `cause`. Where the transport does not tell the cause it is the newest one, while a
   * single principal has calls in flight: what belongs to one principal must never reach another.
   */
  owner(cause: RequestId | undefined): RunningCall | NoOwner {
    const calls = this.#calls.members();
    if (cause !== undefined) return calls.find(({ id }) => id === cause) ?? "none";
    let newest: RunningCall | undefined;
    for (const call of calls) {
      if (newest && newest.ctx.principal.id !== call.ctx.principal.id) return "several";
      if (!newest || call.order > newest.order) newest = call;
    }
    return newest ?? "none";
  }
}
