/** A browser as far as cookies go: by name and path, sent where the path fits. Redirects are not followed. */
export interface CookieJar {
  fetch(url: URL | string, init?: RequestInit): Promise<Response>;
  /** The `Cookie` header for a path. */
  headerFor(path: string): string;
  clear(matching?: RegExp): void;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

export function openJar(): CookieJar {
  const cookies = new Map<string, Cookie>();
  const headerFor = (path: string): string =>
    [...cookies.values()]
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')))
      .toSorted((first, other) => other.path.length - first.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  return {
    headerFor,
    clear(matching = /./) {
      for (const [key, { name }] of cookies) if (matching.test(name)) cookies.delete(key);
    },
    async fetch(url, init = {}) {
      const headers = new Headers(init.headers);
      const cookie = headerFor(new URL(url).pathname);
      if (cookie !== '') headers.set('cookie', cookie);
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      for (const text of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = text.split(/; */);
        const name = pair.slice(0, pair.indexOf('='));
        const value = pair.slice(pair.indexOf('=') + 1);
        const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
        const isGone = /max-age=0|expires=Thu, 01 Jan 1970/i.test(text);
        if (isGone) cookies.delete(`${name} ${path}`);
        else cookies.set(`${name} ${path}`, { name, value, path });
      }
      return response;
    },
  };
}
