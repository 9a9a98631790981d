import * as Sentry from '@sentry/browser';

/** A shop as its customers have it open, which has only its DSN from us; the address says what happens in it. */
const address = new URL(location.href);
const story = address.searchParams.get('story');
Sentry.init({
  dsn: address.searchParams.get('dsn') ?? '',
  environment: 'staging',
  release: 'shop@1.4.2',
  // A header that no form could send: the browser asks beforehand whether it may.
  ...(story === 'ask' ? { transportOptions: { headers: { 'X-Requested-With': 'XMLHttpRequest' } } } : {}),
});
Sentry.setTag('region', 'eu');
Sentry.setUser({ id: '42', email: 'bob@shop.test' });
Sentry.addBreadcrumb({ category: 'till', message: 'order opened', data: { password: 'hunter2' } });

function takeOrder(beans) {
  if (beans > 5) throw new RangeError(`cannot take an order of ${beans} beans`);
}

function chargeOrder(beans) {
  try {
    takeOrder(beans);
  } catch (cause) {
    throw new Error(`order of ${beans} beans was not charged`, { cause });
  }
}

async function report() {
  for (const beans of [10, 20]) {
    try {
      chargeOrder(beans);
    } catch (error) {
      Sentry.captureException(error);
    }
  }
  Sentry.captureMessage('the grinder is slow', 'warning');
  await fetch('http://localhost:9/orders').catch((error) => Sentry.captureException(error));
  void Promise.reject(new TypeError('nobody awaited the beans'));
  void Promise.reject('a text that was rejected');
  // What is thrown in the same turn, the client takes for the same error.
  await new Promise((resolve) => setTimeout(resolve, 20));
  document.body.addEventListener('click', function pour() {
    throw new Error('the cup is full');
  });
  document.body.click();
  setTimeout(() => {
    throw new Error('the machine is on fire');
  }, 0);
}

async function insist() {
  for (let i = 0; i < 10; i += 1) {
    Sentry.captureException(new Error(`again ${i}`));
    await Sentry.flush(2_000);
  }
}

if (story === 'leave') {
  Sentry.captureException(new Error('gone before it was sent'));
  location.replace('about:blank');
} else {
  await (story === 'insist' ? insist() : report());
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Sentry.flush(5_000);
  document.title = 'told';
}
