import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { defaultStackParser } from '@sentry/browser';
import { build } from 'vite';

import { eventOfClient, type LabelledEvent } from './labelled_event.ts';

const run = promisify(execFile);

/** A shop with fourteen mistakes; its functions are called by their names through `mistakes`. */
const PROGRAM = `
class PaymentError extends Error { constructor(message) { super(message); this.name = 'PaymentError'; } }
class Cart {
  constructor(items) { if (items === 0) throw new RangeError('a cart needs items'); this.items = items; }
  total() { return this.items.reduce((sum, item) => sum + item.price.amount, 0); }
  get first() { return this.items[0].name; }
  static load(text) { return new Cart(JSON.parse(text)); }
}
function declined(order) { throw new PaymentError('payment of order ' + order + ' was declined'); }
function charge(order) { return declined(order); }
const retry = (work, times) => { for (let left = times; left > 0; left -= 1) { try { return work(); } catch (error) { if (left === 1) throw error; } } };
function findUser(id) { const users = new Map(); return users.get(id).email; }
function notifyUser(id) { return 'to ' + findUser(id); }
const settings = Object.freeze({ currency: 'EUR' });
function changeCurrency(value) { 'use strict'; settings.currency = value; }
function depth(node) { return 1 + depth(node); }
function convert(rates, code) { return rates[code].rate.toFixed(2); }
function showPrice(code) { return convert({}, code); }
async function callPayments(status) { await null; throw new Error('answer ' + status + ' from payments'); }
function parseDate(text) { const date = new Date(text); return date.toISOString(); }
function applyCoupon(coupon) { return coupon.apply({ total: 1 }); }
function reserve(stock) { if (stock < 3) throw new Error('only ' + stock + ' left in stock'); }
function first(list) { return list[Symbol.iterator]().next().value.id; }
export const mistakes = {
  declined: () => charge(Math.floor(Math.random() * 1e6)),
  retried: () => retry(() => charge(17), 3),
  price: () => new Cart([{ price: null }]).total(),
  empty: () => new Cart(0),
  name: () => new Cart([]).first,
  json: () => Cart.load('<html>'),
  user: () => notifyUser(17),
  frozen: () => changeCurrency('USD'),
  depth: () => depth({}),
  rate: () => showPrice('ZZZ'),
  payments: () => callPayments(500 + Math.floor(Math.random() * 5)),
  date: () => parseDate('yesterday'),
  coupon: () => applyCoupon({}),
  stock: () => reserve(Math.floor(Math.random() * 3)),
  list: () => first([]),
};
`;

/** Code that the next deploy adds: it moves every function and takes the names that the minifier gave. */
const ADDED = Array.from(
  { length: 60 },
  (_, index) =>
    `export function report${index}(rows) { const seen = new Set(rows); return [...seen].map((row) => row.id * ${index}).join('-' + rows.length); }`,
).join('\n');

const RUNNER = `
const { mistakes } = await import(process.argv[2]);
const thrown = [];
for (const [label, make] of Object.entries(mistakes)) {
  try { await make(); } catch ({ name: type, message: value, stack }) { thrown.push({ label, type, value, stack }); }
}
console.log(JSON.stringify(thrown));
`;

interface Thrown {
  readonly label: string;
  readonly type: string;
  readonly value: string;
  readonly stack: string;
}

/** Every mistake of the program, in two builds of it. */
export async function buildErrors(folder: string): Promise<readonly LabelledEvent[]> {
  const first = await errorsOfBuild(path.join(folder, 'first'), PROGRAM);
  const second = await errorsOfBuild(path.join(folder, 'second'), `${ADDED}\n${PROGRAM}`);
  return [...first, ...second];
}

async function errorsOfBuild(folder: string, source: string): Promise<readonly LabelledEvent[]> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'shop.js'), source);
  await writeFile(path.join(folder, 'run.mjs'), RUNNER);
  const assets = path.join(folder, 'assets');
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: assets,
      minify: true,
      rolldownOptions: {
        input: path.join(folder, 'shop.js'),
        preserveEntrySignatures: 'strict',
        output: { format: 'es', entryFileNames: 'shop-[hash].js' },
      },
    },
  });
  const [bundle = ''] = await readdir(assets);
  const { stdout } = await run(process.execPath, [path.join(folder, 'run.mjs'), path.join(assets, bundle)]);
  return (JSON.parse(stdout) as Thrown[]).map(({ label, type, value, stack }) => {
    const lines = stack.split('\n').filter((line) => !line.includes('run.mjs'));
    const shown = lines.join('\n').replaceAll(`file://${assets}`, 'https://shop.example/assets');
    const stacktrace = { frames: defaultStackParser(shown) };
    return {
      label,
      event: eventOfClient({ platform: 'javascript', exception: { values: [{ type, value, stacktrace }] } }),
    };
  });
}
