import * as Sentry from '@sentry/node';

/** A shop as users write it, which has only its DSN from us; `STORY` says what happens in it. */
Sentry.init({ dsn: process.env['SENTRY_DSN'] ?? '', environment: 'staging', release: 'shop@1.4.2' });
Sentry.setTag('region', 'eu');
Sentry.setUser({ id: '42', email: 'bob@shop.test' });
Sentry.addBreadcrumb({ category: 'till', message: 'order opened', data: { password: 'hunter2' } });

function takeOrder(beans: number): void {
  if (beans > 5) throw new RangeError(`cannot take an order of ${beans} beans`);
}

function chargeOrder(beans: number): void {
  try {
    takeOrder(beans);
  } catch (cause) {
    throw new Error(`order of ${beans} beans was not charged`, { cause });
  }
}

let sent = 0;
function capture(thrown: unknown, extra: Record<string, unknown> = {}): void {
  Sentry.captureException(thrown, { extra });
  sent += 1;
}

function report(): void {
  for (const beans of [10, 20]) {
    try {
      chargeOrder(beans);
    } catch (error) {
      capture(error);
    }
  }
  Sentry.captureMessage('the grinder is slow', 'warning');
  sent += 1;
  for (const flavour of ['sour', 'bitter']) {
    Sentry.captureException(new Error(`the beans are ${flavour}`), { fingerprint: ['beans'] });
    sent += 1;
  }
  const circle: Record<string, unknown> = { size: Number.NaN };
  circle['self'] = circle;
  capture('a text that was thrown', { circle });
  capture({ code: 17, reason: 'an object that was thrown' });
  capture(null);
  capture(new Error(`a long story ${'x'.repeat(20_000)}`));
  capture(new Error('teapot 🫖 with half a \uD83E and a \0 in it'));
  setTimeout(() => {
    throw new TypeError('the machine is on fire');
  }, 0);
  sent += 1;
}

async function insist(): Promise<void> {
  for (; sent < 10;) {
    capture(new Error('again'));
    await Sentry.flush(2_000);
  }
}

process.on('exit', () => console.log(`sent ${sent}`));
if (process.env['STORY'] === 'insist') await insist();
else report();
