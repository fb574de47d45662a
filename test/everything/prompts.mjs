import { askingPrompt } from "./askingTools.mjs";
import { embedded, fromUser, image, text } from "./content.mjs";

const prompt = (name, description, argumentNames, run) => ({
  definition: {
    name,
    description,
    ...(argumentNames.length > 0 && {
      arguments: argumentNames.map((argument) => ({ name: argument, required: true })),
    }),
  },
  run: (args) => ({ messages: run(args).map(fromUser) }),
});

export const prompts = [
  prompt("test_simple_prompt", "A prompt without arguments.", [], () => [
    text("This is a simple prompt for testing."),
  ]),
  prompt("test_prompt_with_arguments", "A prompt of its arguments.", ["arg1", "arg2"], ({ arg1, arg2 }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ]),
  prompt(
    "test_prompt_with_embedded_resource",
    "A prompt about a resource.",
    ["resourceUri"],
    ({ resourceUri }) => [
      embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
      text("Please process the embedded resource above."),
    ],
  ),
  prompt("test_prompt_with_image", "A prompt about an image.", [], () => [
    image,
    text("Please analyze the image above."),
  ]),
  askingPrompt,
];

/** What `completion/complete` offers, by the prompt's name or the URI template and the argument. */
const offered = {
  "test_prompt_with_arguments arg1": ["paris", "park", "party", "test"],
  "test_prompt_with_arguments arg2": ["hello", "world"],
  "test://template/{id}/data id": ["123", "124", "200"],
};

/** A `CompleteResult` for the params of `completion/complete`. */
export function complete({ ref, argument }) {
  const of = ref.type === "ref/prompt" ? ref.name : ref.uri;
  const all = offered[`${of} ${argument.name}`] ?? [];
  const values = all.filter((value) => value.startsWith(argument.value));
  return { completion: { values, total: values.length, hasMore: false } };
}
