/**
 * What is measured. `bare` is the floor that its `door` is compared with; `handshake` opens a session before the
 * calls, as legacy clients do.
 */
export const subjects = [
  { name: "bare node:http echo", door: "http", program: "bareHttp.mjs", era: "modern", bare: true },
  { name: "Toolgate, modern", door: "http", program: "toolgateHttp.mjs", era: "modern" },
  { name: "Toolgate, legacy", door: "http", program: "toolgateHttp.mjs", era: "legacy", handshake: true },
  { name: "SDK 2, modern", door: "http", program: "sdk2Http.mjs", era: "modern" },
  { name: "SDK 2, legacy", door: "http", program: "sdk2Http.mjs", era: "legacy", handshake: true },
  { name: "SDK 1, legacy", door: "http", program: "sdk1Http.mjs", era: "legacy", handshake: true },
  { name: "bare line echo", door: "stdio", program: "bareStdio.mjs", era: "modern", bare: true },
  { name: "Toolgate, modern", door: "stdio", program: "toolgateStdio.mjs", era: "modern" },
  { name: "Toolgate, legacy", door: "stdio", program: "toolgateStdio.mjs", era: "legacy", handshake: true },
  { name: "SDK 2, modern", door: "stdio", program: "sdk2Stdio.mjs", era: "modern" },
  { name: "SDK 2, legacy", door: "stdio", program: "sdk2Stdio.mjs", era: "legacy", handshake: true },
  { name: "SDK 1, legacy", door: "stdio", program: "sdk1Stdio.mjs", era: "legacy", handshake: true },
];
