import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished } from 'vitest';

import { isConsoleFresh } from '#infra/console/freshness.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';

const oneOf = (...files: readonly string[]): string | undefined => files.find((file) => existsSync(file));
const CHROMIUM = oneOf('/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome');

/** Chromium without a window, which takes a quarter less processor time, has no notifications. */
const EXECUTABLES = { windowless: oneOf('/usr/bin/chromium-headless-shell') ?? CHROMIUM, whole: CHROMIUM };
const PACKAGES = { windowless: 'chromium-headless-shell', whole: 'chromium' } as const;
type Kind = keyof typeof EXECUTABLES;

/** Pages are painted without a graphics card, nor what stands for one: a process of its own for that only costs messages. */
const ARGS = {
  windowless: ['--no-sandbox', '--disable-gpu', '--in-process-gpu', '--renderer-process-limit=1'],
  whole: ['--no-sandbox'],
} as const;

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1440, height: 900 };

/** One of each kind for all files that a process runs: they end with the process. */
const browsers: Partial<Record<Kind, Browser>> = {};
let browser: Browser | null = null;
let waitMsOfTests = 0;

interface BrowserOptions {
  readonly kind?: Kind;
  /** Time limit of each test; the configured one when left out. */
  readonly timeoutMs?: number;
  /** Longest wait for each condition in a page. */
  readonly waitMs?: number;
}

/** Tests in a real browser. Without Chromium they are skipped or, in CI, fail. */
export function inBrowser(name: string, tests: () => void, options: BrowserOptions = {}): void {
  const { kind = 'windowless', timeoutMs, waitMs = 60_000 } = options;
  describe.skipIf(!canRunWith(PACKAGES[kind], EXECUTABLES[kind] !== undefined))(
    // eslint-disable-next-line vitest/valid-title -- each file names its own
    name,
    timeoutMs === undefined ? {} : { timeout: timeoutMs },
    () => {
      beforeAll(async () => {
        waitMsOfTests = waitMs;
        if (!isConsoleFresh()) {
          await promisify(execFile)(process.execPath, [path.resolve('infra/console/build.ts')]);
        }
        if (browsers[kind]?.isConnected() !== true) {
          browsers[kind] = await chromium.launch({ executablePath: EXECUTABLES[kind] ?? '', args: [...ARGS[kind]] });
        }
        browser = browsers[kind];
      });
      tests();
    },
  );
}

/** Playwright clicks faster than people do: this puts a second between two clicks of the mouse. */
const SLOW_CLICKS = `{
  let clicks = 0;
  const own = Object.getOwnPropertyDescriptor(Event.prototype, 'timeStamp').get;
  addEventListener('pointerdown', ({ pointerType }) => { if (pointerType === 'mouse') clicks += 1; }, true);
  Object.defineProperty(Event.prototype, 'timeStamp', {
    configurable: true,
    get() {
      const isByMouse = this instanceof PointerEvent && this.pointerType === 'mouse';
      return own.call(this) + (isByMouse ? clicks * 1_000 : 0);
    },
  });
}`;

/** A browser profile, and what went wrong in its pages. */
export interface WatchedContext {
  readonly context: BrowserContext;
  readonly errors: string[];
}

/** A separate browser profile, without animations. Whoever opens it closes it and looks at the errors. */
export async function openWatchedContext(options: BrowserContextOptions = {}): Promise<WatchedContext> {
  if (browser === null) throw new Error('no browser was started');
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(waitMsOfTests);
  const errors: string[] = [];
  await context.addInitScript(
    `document.addEventListener('securitypolicyviolation', (e) => console.error('POLICY ' + e.violatedDirective + ' ' + e.blockedURI));`,
  );
  await context.addInitScript(SLOW_CLICKS);
  context.on('page', (page) => watch(page, errors));
  return { context, errors };
}

/** The same for one test. Errors in its pages fail the test when it ends. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const { context, errors } = await openWatchedContext(options);
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  return context;
}

/** Failed requests belong to many tests; errors of the page itself never do. */
function watch(page: Page, errors: string[]): void {
  page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    errors.push(`${page.url()}: ${message.text()}`);
  });
}
