import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Script } from 'node:vm';

import { onTestFinished } from 'vitest';
import { build, type PluginOption } from 'vite';

interface SentFrame {
  readonly function: string;
  readonly abs_path: string;
  readonly filename: string;
  readonly lineno: number;
  readonly colno: number;
  readonly in_app: boolean;
}

/** A minified build of a small shop on disk. */
export interface ShopBuild {
  readonly folder: string;
  /** The stack of its error, as V8 has it, and the debug id that was written into the code, if any. */
  fail(): Promise<{ frames: SentFrame[]; debugId: string | null }>;
}

const PAYMENT = `
export class Payment {
  constructor(amount) { this.amount = amount; }
  chargeCard(card) {
    if (card.declined) {
      throw new Error('card was declined');
    }
    return this.amount;
  }
}
`;
const SHOP = `
import { Payment } from './payment.js';
const greet = (customer) => 'hello ' + customer;
function payForBasket(basket) {
  return new Payment(basket.total).chargeCard({ declined: basket.total > 10 });
}
globalThis.shop = { greet, checkout: (basket) => payForBasket(basket) };
`;
/** Makes the names and places of everything after it different. */
const MORE = Array.from(
  { length: 40 },
  (_, index) =>
    `function helper${index}(a, b) { return (a * ${index} + b) % 7 ? helper${(index + 1) % 40}(b, a - 1) : b; }`,
).join('\n');

const ADDRESS = 'https://shop.example/assets/shop.js';

interface ShopOptions {
  readonly withMore?: boolean;
  readonly plugins?: readonly PluginOption[];
}

export async function buildShop({ withMore = false, plugins = [] }: ShopOptions = {}): Promise<ShopBuild> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-shop-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const source = path.join(folder, 'src');
  await mkdir(source);
  const more = withMore ? `${MORE}\nglobalThis.more = helper0;\n` : '';
  await writeFile(path.join(source, 'payment.js'), `${withMore ? '// one line more\n' : ''}${PAYMENT}`);
  await writeFile(path.join(source, 'shop.js'), `import './more.js';\n${SHOP}`);
  await writeFile(path.join(source, 'more.js'), more);
  const output = path.join(folder, 'assets');
  await build({
    configFile: false,
    logLevel: 'silent',
    root: folder,
    plugins: [...plugins],
    build: {
      outDir: output,
      sourcemap: true,
      minify: true,
      lib: { entry: path.join(source, 'shop.js'), formats: ['iife'], name: 'bundle', fileName: () => 'shop.js' },
    },
  });
  return {
    folder: output,
    async fail() {
      const code = await readFile(path.join(output, 'shop.js'), 'utf8');
      const global: Record<string, unknown> = {};
      // The program of the shop reaches what it puts there by this name.
      new Script(`(globalThis) => {${code}\n}`, { filename: ADDRESS, columnOffset: -'(globalThis) => {'.length })
        .runInThisContext()
        .call(null, global);
      const { checkout } = global['shop'] as { checkout: (basket: { total: number }) => void };
      const debugId = /(?:debugId=|sentry-dbid-)([0-9a-f-]{36})/.exec(code)?.[1] ?? null;
      try {
        checkout({ total: 11 });
      } catch (error) {
        return { frames: framesOf((error as Error).stack ?? ''), debugId };
      }
      throw new Error('the shop did not fail');
    },
  };
}

function framesOf(stack: string): SentFrame[] {
  return stack
    .split('\n')
    .flatMap((line): SentFrame[] => {
      const match = /^\s*at (?:(.*?) \()?(https:[^)]*?):(\d+):(\d+)\)?$/.exec(line);
      if (match === null) return [];
      const [, name = '?', address = '', lineno, colno] = match;
      const place = { lineno: Number(lineno), colno: Number(colno) };
      return [{ function: name, abs_path: address, filename: address, ...place, in_app: true }];
    })
    .reverse();
}
