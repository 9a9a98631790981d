/** An ordinary program: it reports exceptions with the Sentry SDK, and one happens. */
import * as Sentry from '@sentry/node';

Sentry.init({ dsn: process.env['SENTRY_DSN'] ?? '', release: 'demo@1.0.0', environment: 'demo' });

function priceOf(basket: { items: { price: number }[] } | undefined): number {
  return (basket as { items: { price: number }[] }).items.reduce((sum, item) => sum + item.price, 0);
}

try {
  priceOf(undefined);
} catch (error) {
  Sentry.captureException(error);
}
if (!(await Sentry.flush(5_000))) process.exitCode = 1;
