const LENGTH_MAX = 2_000;

/** Returns the path within the console to go to after signing in; `/` for whatever could lead elsewhere. */
export function returnPath(text: string | undefined): string {
  if (text === undefined || text.length > LENGTH_MAX) return '/';
  // Browsers read a backslash as a slash and drop tabs and line ends, so `/\t/host` leads elsewhere as well.
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return '/';
  const base = 'https://console.invalid';
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : '/';
}
