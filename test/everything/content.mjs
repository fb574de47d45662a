// The smallest files of their kinds, base64.

/** One red pixel. */
export const png = {
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  mimeType: "image/png",
};

/** No sample at 8 kHz. */
export const wav = {
  data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=",
  mimeType: "audio/wav",
};

export const text = (what) => ({ type: "text", text: what });

export const image = { type: "image", ...png };

export const audio = { type: "audio", ...wav };

/** An embedded resource. */
export const embedded = (uri, mimeType, what) => ({
  type: "resource",
  resource: { uri, mimeType, text: what },
});

/** A message of a prompt. */
export const fromUser = (content) => ({ role: "user", content });
