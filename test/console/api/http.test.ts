import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { addressOf, ask, serverNow, setStepUp } from '#console/api/http.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** The server gives these answers, one after the other; null is no answer at all. */
function answers(...all: (Answer | null)[]) {
  const fetching = vi.fn<typeof fetch>(async () => {
    const next = all.shift();
    if (next === undefined || next === null) throw new TypeError('fetch failed');
    return new Response(JSON.stringify(next.body), { status: next.status, headers: next.headers ?? {} });
  });
  vi.stubGlobal('fetch', fetching);
  return fetching;
}

test.each([
  '/incidents?status=open',
  '//evil.test',
  '/\t//evil.test',
  '/\t\\\\evil.test',
  'https://evil.test',
  'javascript:alert(1)',
])('an address stays below the base, whatever is asked for: %j', (path) => {
  expect(addressOf(path).startsWith(new URL('.', document.baseURI).href)).toBe(true);
});

const STEP_UP = { status: 403, body: { code: 'step_up_required', detail: 'show your second factor' } };
const DONE = { status: 200, body: { result: { done: true } } };

afterEach(() => {
  setStepUp(null);
  vi.unstubAllGlobals();
});

describe('a request', () => {
  test('resolves to the result', async () => {
    answers(DONE);
    expect(await ask('session')).toEqual({ done: true });
  });

  test('throws what the server refused, as a whole sentence', async () => {
    const errors = [{ path: 'name', message: 'is too long' }];
    answers({ status: 400, body: { code: 'invalid_input', detail: 'the name is too long', errors } });
    await expect(ask('session')).rejects.toMatchObject({
      status: 400,
      code: 'invalid_input',
      message: 'The name is too long.',
      faults: errors,
      isOutage: false,
    });
  });

  test.each([
    null,
    { status: 200, body: 'Sign in to this network.' },
    { status: 502, body: {} },
    { status: 503, body: {}, headers: { 'retry-after': '7' } },
  ])('is an outage with the answer %j', async (answer) => {
    answers(answer);
    await expect(ask('session')).rejects.toMatchObject({ isOutage: true });
  });

  test('fails as the caller ended it when the caller ends it after the headers', async () => {
    const caller = new AbortController();
    const reason = new Error('the page is left');
    vi.stubGlobal('fetch', async () => {
      caller.abort(reason);
      return new Response('{"resu');
    });
    await expect(ask('session', { signal: caller.signal })).rejects.toBe(reason);
  });

  test('is sent again once the person has confirmed with the second factor', async () => {
    const fetching = answers(STEP_UP, DONE);
    setStepUp(async () => true);
    expect(await ask('me/password', { method: 'POST', body: {} })).toEqual({ done: true });
    expect(fetching).toHaveBeenCalledTimes(2);
  });

  test('is not sent again when the person does not confirm', async () => {
    const fetching = answers(STEP_UP, DONE);
    setStepUp(async () => false);
    await expect(ask('me/password')).rejects.toMatchObject({ code: 'step_up_required' });
    expect(fetching).toHaveBeenCalledOnce();
  });
});

test('a device with a wrong clock counts down by the clock of the server', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2027, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const hourAhead = new Date(Date.now() + 3_600_000).toUTCString();
  answers({ ...DONE, headers: { date: hourAhead } }, { ...DONE, headers: { date: new Date().toUTCString() } });
  await ask('session');
  expect(serverNow() - Date.now()).toBe(3_600_000);
  await ask('session');
  expect(serverNow() - Date.now()).toBe(0);
});
