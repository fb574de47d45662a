import { askingResource } from "./askingTools.mjs";
import { png } from "./content.mjs";

const resource = (uri, name, mimeType, contents) => ({
  definition: { uri, name, description: `The resource ${name}.`, mimeType },
  run: () => ({ contents: [{ uri, mimeType, ...contents() }] }),
});

export const resources = (world) => [
  resource("test://static-text", "static-text", "text/plain", () => ({
    text: "This is the content of the static text resource.",
  })),
  resource("test://static-binary", "static-binary", png.mimeType, () => ({ blob: png.data })),
  resource("test://watched-resource", "watched-resource", "text/plain", () => ({
    text: `Changed ${world.changesOf("test://watched-resource")} times.`,
  })),
  askingResource,
];

export const template = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  description: "Data of an id.",
  mimeType: "application/json",
};

/** What a URI of the template holds; undefined for any other. */
export function readTemplate(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { contents: [{ uri, mimeType: template.mimeType, text: JSON.stringify(data) }] };
}
