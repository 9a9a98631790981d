import * as Sentry from '@sentry/node';

/** A program as users write it: it catches one error, is brought down by another, and has only its DSN from us. */
Sentry.init({ dsn: process.env['SENTRY_DSN'] ?? '', environment: 'staging', release: 'shop@1.4.2' });
Sentry.setTag('region', 'eu');
Sentry.setUser({ id: '42' });

function takeOrder(beans: number): void {
  if (beans > 5) throw new RangeError(`cannot take an order of ${beans} beans`);
}

for (const beans of [10, 20]) {
  try {
    takeOrder(beans);
  } catch (error) {
    Sentry.captureException(error);
  }
}
Sentry.captureMessage('the grinder is slow', 'warning');
setTimeout(() => {
  throw new Error('the machine is on fire');
}, 0);
