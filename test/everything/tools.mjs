import { audio, embedded, image, text } from "./content.mjs";
import { elicit } from "./questions.mjs";

// Tools that ask nobody anything. `run(args, io)` returns a result; for `io` see `description.mjs`.

const object = (properties = {}, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});

export const string = { type: "string" };

/** `properties` are JSON Schemas by name, all of them required; a whole schema may be given instead. */
export const tool = (name, description, { properties, inputSchema = object(properties), ...rest }) => ({
  definition: { name, description, inputSchema },
  ...rest,
});

const answering = (name, description, ...content) => tool(name, description, { run: () => ({ content }) });

export const contentTools = [
  answering("test_simple_text", "Answers a text.", text("This is a simple text response for testing.")),
  answering("test_image_content", "Answers an image.", image),
  answering("test_audio_content", "Answers a sound.", audio),
  answering(
    "test_embedded_resource",
    "Answers a resource.",
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ),
  answering(
    "test_multiple_content_types",
    "Answers a text, an image and a resource.",
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ),
  tool("test_error_handling", "Always fails.", {
    run: () => ({ content: [text("This tool intentionally returns an error for testing")], isError: true }),
  }),
];

const logLines = ["Tool execution started", "Tool processing data", "Tool execution completed"];

function logAll(_args, io) {
  for (const line of logLines) io.log("info", line);
  return { content: [text("Logged.")] };
}

export const notifyingTools = [
  tool("test_tool_with_logging", "Writes three lines to the client's log.", { run: logAll }),
  tool("test_logging_tool", "Writes three lines to the client's log.", { run: logAll }),
  tool("test_tool_with_progress", "Reports progress three times.", {
    run(_args, io) {
      for (const progress of [0, 50, 100]) io.progress({ progress, total: 100 });
      return { content: [text("Done.")] };
    },
  }),
  tool("test_reconnection", "Closes the stream that waits for its answer, where the transport can.", {
    run(_args, io) {
      io.closeStream();
      return { content: [text("Answered on a stream that was opened again.")] };
    },
  }),
];

/** Tools whose schemas say what a client or a gateway could drop or must heed. */
export const schemaTools = [
  tool("test_custom_header", "Has a parameter that HTTP clients also send as the header Mcp-Param-Region.", {
    properties: { region: { ...string, "x-mcp-header": "Region" } },
    run: ({ region }) => ({ content: [text(`Region: ${region}`)] }),
  }),
  tool("json_schema_2020_12_tool", "Has a schema with keywords of JSON Schema 2020-12.", {
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: { $anchor: "addressDef", type: "object", properties: { street: string, city: string } },
      },
      properties: {
        name: string,
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: string,
        email: string,
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    run: (args) => ({ content: [text(JSON.stringify(args))] }),
  }),
];

/** Tools that change what a client has seen, and that show what the server has seen of its clients. */
export function livingTools(world) {
  const trigger = (name, kind) =>
    tool(name, `Adds one entry to the list of ${kind}, or takes it away again.`, {
      run() {
        world.toggle(kind);
        return { content: [text(`The list of ${kind} has changed.`)] };
      },
    });
  return [
    trigger("test_trigger_tool_change", "tools"),
    trigger("test_trigger_prompt_change", "prompts"),
    trigger("test_trigger_resource_change", "resources"),
    tool("test_update_resource", "Changes a resource, so that its subscribers are told.", {
      properties: { uri: string },
      run({ uri }) {
        world.update(uri);
        return { content: [text(`${uri} has changed.`)] };
      },
    }),
    tool("test_slow", "Logs that it has started, and runs until it is cancelled.", {
      properties: { key: string },
      run({ key }, io) {
        io.log("info", `started ${key}`);
        return new Promise((_, reject) => {
          io.signal.addEventListener("abort", () => {
            world.happened(`cancelled ${key}`);
            reject(new Error(`${key} was cancelled`));
          });
        });
      },
    }),
    tool("test_ask", "Asks the person, and remembers it where there is no answer.", {
      properties: { key: string },
      async run({ key }, io) {
        try {
          await io.ask(elicit("Is anybody there?", {}));
        } catch (error) {
          world.happened(`refused ${key}`);
          throw error;
        }
        return { content: [text(`${key} was answered`)] };
      },
    }),
    tool(
      "test_await",
      'Answers when "cancelled KEY" of test_slow or "refused KEY" of test_ask has happened.',
      {
        properties: { what: string },
        async run({ what }) {
          await world.when(what);
          return { content: [text(`It has happened: ${what}`)] };
        },
      },
    ),
    tool("test_exit", "Ends the server's process, without an answer.", {
      run: () => process.exit(),
    }),
  ];
}
