/**
 * What a child process gets of this process's environment. It is what programs need to find their files, their
 * locale and the network; a secret that happens to be set here is not among it. On the network side that is
 * the proxy to go through and the certificates to trust, since no server can reach anything without them
 * where they are set. A proxy address may hold a password of its own, which is meant for whoever uses the proxy.
 */
const allowed = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
]);

/** The whole environment of an upstream's process: the allow-list, then what its entry names. */
export function upstreamEnv(
  entryEnv: Readonly<Record<string, string>>,
  processEnv: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const inherited = Object.entries(processEnv).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (allowed.has(entry[0]) || entry[0].startsWith("LC_")) &&
      // An exported shell function: code that a shell started by the child would run.
      !entry[1].startsWith("()"),
  );
  return { ...Object.fromEntries(inherited), ...entryEnv };
}
