/** The SDK's `EventStore` for one session: every event of every stream, for as long as the session lives. */
export class EventLog {
  /** An event's id is its place here. */
  #events = [];

  async storeEvent(streamId, message) {
    return String(this.#events.push({ streamId, message }) - 1);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[eventId]?.streamId;
  }

  /** Sends what followed that event on its stream, and returns the stream's id. */
  async replayEventsAfter(lastEventId, { send }) {
    const { streamId } = this.#events[lastEventId];
    for (const [at, event] of this.#events.entries()) {
      // The event that opens a stream has an empty message: it only gives the client an id.
      const isMessage = event.streamId === streamId && "jsonrpc" in event.message;
      if (isMessage && at > Number(lastEventId)) await send(String(at), event.message);
    }
    return streamId;
  }
}
