import { randomBytes } from 'node:crypto';

import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import type { Temporal } from '#kernel/time.ts';

export const FRAME: Frame = {
  function: 'charge',
  module: 'shop.payments',
  filename: 'shop/payments.py',
  absPath: '/app/shop/payments.py',
  lineno: 42,
  colno: null,
  contextLine: '    raise CardDeclined(card)',
  preContext: ['def charge(card):', '    if not card.valid:'],
  postContext: ['    return receipt'],
  inApp: true,
};

/** An event of a Python shop whose card payments fail, but for what is given. */
export function exceptionEvent(at: Temporal.Instant, overrides: Partial<ExceptionEvent> = {}): ExceptionEvent {
  return {
    eventId: randomBytes(16).toString('hex'),
    at,
    receivedAt: at,
    level: 'error',
    platform: 'python',
    environment: 'production',
    release: 'shop@1.4.0',
    serverName: 'web-1',
    transaction: '/checkout',
    logger: null,
    user: { id: '7', email: null, username: null, ip: null },
    tags: { region: 'eu' },
    message: null,
    messageTemplate: null,
    exceptions: [
      {
        type: 'CardDeclined',
        value: 'card 17 was declined',
        module: 'shop.errors',
        mechanism: { type: 'generic', handled: false, synthetic: false },
        frames: [FRAME],
      },
    ],
    thread: null,
    stacktrace: [],
    breadcrumbs: [],
    contexts: null,
    extra: null,
    request: null,
    sdk: { name: 'sentry.python', version: '2.0.0' },
    fingerprint: [],
    ...overrides,
  };
}
