import { defaultStackParser } from '@sentry/browser';

import { eventOfClient, type LabelledEvent } from './labelled_event.ts';

/** A call as each engine writes it, the raising one first. Null where an engine has no such frame. */
interface Call {
  readonly chrome: string | null;
  readonly firefox: string | null;
  readonly safari: string | null;
  /** Not code of the page. */
  readonly isBuiltIn?: boolean;
}

interface Thrown {
  readonly type: string;
  readonly firefoxType?: string;
  readonly chrome: string;
  readonly firefox: string;
  readonly safari: string;
  readonly calls: readonly Call[];
}

const named = (name: string): Call => ({ chrome: name, firefox: name, safari: name });
const method = (owner: string, name: string): Call => ({ chrome: `${owner}.${name}`, firefox: name, safari: name });
const constructor = (name: string): Call => ({ chrome: `new ${name}`, firefox: name, safari: name });
const anonymousIn = (owner: string): Call => ({ chrome: '', firefox: `${owner}/<`, safari: '' });
const builtIn = (owner: string, name: string): Call => ({
  chrome: `${owner}.${name}`,
  firefox: null,
  safari: name,
  isBuiltIn: true,
});
const asyncCaller = (name: string): Call => ({ chrome: `async ${name}`, firefox: `async*${name}`, safari: null });
const timer = (owner: string): Call => ({ chrome: null, firefox: `setTimeout handler*${owner}`, safari: null });
const listener = (owner: string): Call => ({
  chrome: null,
  firefox: `EventListener.handleEvent*${owner}`,
  safari: null,
});
const top: Call = { chrome: '', firefox: '', safari: 'module code' };
const clicked: Call = { chrome: 'HTMLButtonElement.onclick', firefox: 'onclick', safari: 'onclick' };

const same = (message: string) => ({ chrome: message, firefox: message, safari: message });

/** The same mistakes, as Chrome 141, Firefox 143 and Safari 26 report them. */
const THROWN: Readonly<Record<string, Thrown>> = {
  'a property of undefined': {
    type: 'TypeError',
    chrome: "Cannot read properties of undefined (reading 'total')",
    firefox: `can't access property "total", cart is undefined`,
    safari: "undefined is not an object (evaluating 'cart.total')",
    calls: [method('Cart', 'sum'), named('checkout'), clicked],
  },
  'a property of null, in a callback': {
    type: 'TypeError',
    chrome: "Cannot read properties of null (reading 'id')",
    firefox: `can't access property "id", item is null`,
    safari: "null is not an object (evaluating 'item.id')",
    calls: [anonymousIn('renderItems'), builtIn('Array', 'map'), named('renderItems'), method('View', 'draw'), top],
  },
  'no function': {
    type: 'TypeError',
    chrome: 'session.refresh is not a function',
    firefox: 'session.refresh is not a function',
    safari: "session.refresh is not a function. (In 'session.refresh()', 'session.refresh' is undefined)",
    calls: [named('keepAlive'), anonymousIn('start'), timer('start')],
  },
  'no variable': {
    type: 'ReferenceError',
    chrome: 'basket is not defined',
    firefox: 'basket is not defined',
    safari: "Can't find variable: basket",
    calls: [named('addItem'), method('Object', 'onAdd'), clicked],
  },
  'used too early': {
    type: 'ReferenceError',
    chrome: "Cannot access 'rates' before initialization",
    firefox: "can't access lexical declaration 'rates' before initialization",
    safari: 'Cannot access uninitialized variable.',
    calls: [named('convert'), named('showPrices'), top],
  },
  'a constant': {
    type: 'TypeError',
    chrome: 'Assignment to constant variable.',
    firefox: "invalid assignment to const 'limit'",
    safari: 'Attempted to assign to readonly property.',
    calls: [named('raiseLimit'), top],
  },
  'endless recursion': {
    type: 'RangeError',
    firefoxType: 'InternalError',
    chrome: 'Maximum call stack size exceeded',
    firefox: 'too much recursion',
    safari: 'Maximum call stack size exceeded.',
    calls: Array.from({ length: 30 }, () => named('visit')),
  },
  'own error in a constructor': {
    type: 'ValidationError',
    ...same('the cart is empty'),
    calls: [constructor('Order'), method('Checkout', 'submit'), anonymousIn('bindForm'), listener('bindForm')],
  },
  'own error in a getter': {
    type: 'Error',
    ...same('no price yet'),
    calls: [{ chrome: 'get price', firefox: 'get price', safari: 'price' }, named('describe'), top],
  },
  'after an await': {
    type: 'Error',
    ...same('answer 502 from payments'),
    calls: [named('readAnswer'), named('pay'), asyncCaller('placeOrder'), asyncCaller('onSubmit')],
  },
  'no network': {
    type: 'TypeError',
    chrome: 'Failed to fetch',
    firefox: 'NetworkError when attempting to fetch resource.',
    safari: 'Load failed',
    calls: [named('loadStock'), asyncCaller('refresh')],
  },
  'bad JSON': {
    type: 'SyntaxError',
    chrome: `Unexpected token '<', "<html>" is not valid JSON`,
    firefox: 'JSON.parse: unexpected character at line 1 column 1 of the JSON data',
    safari: "JSON Parse error: Unrecognized token '<'",
    calls: [builtIn('JSON', 'parse'), named('parseAnswer'), asyncCaller('load')],
  },
  'a cycle in JSON': {
    type: 'TypeError',
    chrome: "Converting circular structure to JSON\n    --> starting at object with constructor 'Object'",
    firefox: 'cyclic object value',
    safari: 'JSON.stringify cannot serialize cyclic structures.',
    calls: [builtIn('JSON', 'stringify'), method('Storage', 'save'), named('onChange'), clicked],
  },
  'an anonymous function alone': {
    type: 'TypeError',
    chrome: "Cannot set properties of undefined (setting 'open')",
    firefox: `can't access property "open", menu is undefined`,
    safari: "undefined is not an object (evaluating 'menu.open = true')",
    calls: [anonymousIn('setUp'), listener('setUp')],
  },
};

const PAGE = 'https://shop.example/assets/shop.js';

export function browserErrors(): readonly LabelledEvent[] {
  return Object.entries(THROWN).flatMap(([label, thrown]) =>
    (['chrome', 'firefox', 'safari'] as const).map((browser) => ({ label, event: eventIn(browser, thrown) })),
  );
}

function eventIn(browser: 'chrome' | 'firefox' | 'safari', thrown: Thrown) {
  const type = (browser === 'firefox' ? thrown.firefoxType : undefined) ?? thrown.type;
  const message = thrown[browser];
  const lines = thrown.calls.flatMap((call, index) => lineOf(browser, call, index));
  const stack = [...(browser === 'chrome' ? [`${type}: ${message.split('\n')[0]}`] : []), ...lines].join('\n');
  const frames = defaultStackParser(stack);
  return eventOfClient({
    platform: 'javascript',
    exception: { values: [{ type, value: message, stacktrace: { frames } }] },
  });
}

function lineOf(browser: 'chrome' | 'firefox' | 'safari', call: Call, index: number): readonly string[] {
  const name = call[browser];
  if (name === null) return [];
  const place = `${PAGE}:${40 + index}:${browser === 'chrome' ? 11 : 17 + index}`;
  if (browser !== 'chrome') return [`${name}@${call.isBuiltIn === true ? '[native code]' : place}`];
  if (name === '') return [`    at ${place}`];
  return [`    at ${name} (${call.isBuiltIn === true ? '<anonymous>' : place})`];
}
