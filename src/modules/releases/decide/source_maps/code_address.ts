const LENGTH_MAX = 1_000;

/**
 * Returns the addresses under which a build may have uploaded the code that ran at this one, the most exact first:
 * `https://shop.example/js/app.js`, then `~/js/app.js`, where `~` is any host.
 */
export function uploadedAddresses(path: string): readonly string[] {
  const address = path.slice(0, LENGTH_MAX).replace(/[?#].*$/s, '');
  if (address === '' || /^(?:node:|data:|blob:|<|native\b|\[)/.test(address)) return [];
  const hostless = /^[a-z][a-z\d+.-]*:\/\/[^/]*(\/.*)$/is.exec(address)?.[1];
  if (hostless !== undefined) return [address, `~${hostless}`];
  const plain = address.replaceAll('\\', '/').replace(/^(?:[a-z]:)?(?:\.\/)?/i, '');
  return [`~/${plain.replace(/^\/+/, '')}`];
}

/** Returns the address of a map as the code that it belongs to names it: `app.js.map` beside `~/js/app.js`. */
export function resolveAddress(reference: string, base: string): string {
  if (/^(?:[a-z][a-z\d+.-]*:|~\/)/i.test(reference)) return reference;
  const parts = reference.startsWith('/') ? hostOf(base) : base.split('/').slice(0, -1);
  for (const part of reference.replace(/^\/+/, '').split('/')) {
    if (part === '..') {
      if (parts.length > 1) parts.pop();
    } else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function hostOf(base: string): string[] {
  return base.startsWith('~') ? ['~'] : base.split('/').slice(0, 3);
}

/**
 * Returns the path of a source as people know it: `webpack://shop/./src/pay.ts`, `../../src/pay.ts` and `src/pay.ts`
 * are the same file.
 */
export function sourcePath(source: string): string {
  const plain = source
    .slice(0, LENGTH_MAX)
    .replaceAll('\\', '/')
    .replace(/^(?:webpack|webpack-internal|turbopack|ng|rollup|vite):\/\/(?:[^/]*\/)?/i, '')
    .replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*\//i, '')
    .replace(/\?[\w=&-]*$/, '');
  const parts: string[] = [];
  for (const part of plain.split('/')) if (part !== '.' && part !== '..' && part !== '') parts.push(part);
  return parts.join('/') || source.slice(0, LENGTH_MAX);
}
