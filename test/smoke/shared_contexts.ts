import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

import { openWatchedContext, type WatchedContext } from '#test/browser/chromium.ts';

/** Browser profiles that one test uses after the other. */
interface SharedContexts {
  contextFor(options: BrowserContextOptions): Promise<BrowserContext>;
  /** Makes the profiles of a test fit for the next one; those of a test that failed are closed. */
  release(hasFailed: boolean): Promise<void>;
}

interface Profile extends WatchedContext {
  readonly key: string;
}

/** A browser compiles the console once for each profile, which takes longer than most tests. */
export function sharedContexts(): SharedContexts {
  const free: Profile[] = [];
  const used: Profile[] = [];
  return {
    async contextFor(options) {
      const key = JSON.stringify(options);
      const index = free.findIndex((profile) => profile.key === key);
      const [profile = { key, ...(await openWatchedContext({ serviceWorkers: 'block', ...options })) }] =
        index < 0 ? [] : free.splice(index, 1);
      used.push(profile);
      return profile.context;
    },
    async release(hasFailed) {
      const profiles = used.splice(0);
      for (const { context } of profiles) await (hasFailed ? context.close() : forget(context));
      const errors = profiles.flatMap((profile) => profile.errors.splice(0));
      if (!hasFailed) free.push(...profiles);
      expect(errors).toEqual([]);
    },
  };
}

/** Removes what a person has left in the profile. */
async function forget(context: BrowserContext): Promise<void> {
  const [page, ...others] = context.pages() as [Page, ...Page[]];
  for (const other of others) await other.close();
  await page.evaluate('localStorage.clear(); sessionStorage.clear();');
  await page.goto('about:blank');
  await context.clearCookies();
}
