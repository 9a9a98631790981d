const Raven = require('raven');

/** A shop as users wrote it in 2018, which has only its DSN from us; `STORY` says what happens in it. */
Raven.config(process.env.SENTRY_DSN, { environment: 'staging', release: 'shop@1.4.2', autoBreadcrumbs: true });
if (process.env.STORY !== 'insist') Raven.install();
Raven.mergeContext({ user: { id: '42', email: 'bob@shop.test' }, tags: { region: 'eu' } });
Raven.captureBreadcrumb({ category: 'till', message: 'order opened', data: { password: 'hunter2' } });

function takeOrder(beans) {
  if (beans > 5) throw new RangeError(`cannot take an order of ${beans} beans`);
}

let sent = 0;
const capture = (thrown, options = {}) =>
  new Promise((resolve) => {
    sent += 1;
    Raven.captureException(thrown, options, resolve);
  });

async function report() {
  for (const beans of [10, 20]) {
    try {
      takeOrder(beans);
    } catch (error) {
      void capture(error);
    }
  }
  sent += 1;
  await new Promise((resolve) => Raven.captureMessage('the grinder is slow', { level: 'warning' }, resolve));
  for (const flavour of ['sour', 'bitter'])
    await capture(new Error(`the beans are ${flavour}`), { fingerprint: ['beans'] });
  await capture('a text that was thrown', { extra: { size: Number.NaN } });
  await capture({ code: 17, reason: 'an object that was thrown' });
  await capture(new Error(`a long story ${'x'.repeat(20_000)}`));
  await capture(new Error('teapot 🫖 with half a \uD83E and a \0 in it'));
  sent += 1;
  setTimeout(() => {
    throw new TypeError('the machine is on fire');
  }, 0);
}

async function insist() {
  for (let i = 0; i < 10; i += 1) await capture(new Error('again'));
}

process.on('exit', () => console.log(`sent ${sent}`));
if (process.env.STORY === 'insist') void insist();
else void report();
