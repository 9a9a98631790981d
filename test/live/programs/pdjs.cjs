const { createRequire } = require('node:module');

/** A job as users of `@pagerduty/pdjs` write it: `pdjs.cjs trigger KEY`. `SERVER` stands for `events.pagerduty.com`. */
const { event } = createRequire(`${process.env.PACKAGES}/`)('@pagerduty/pdjs');
const [, , action, dedupKey] = process.argv;

event({
  server: process.env.SERVER,
  retryTimeout: 8000,
  data: {
    routing_key: process.env.ROUTING_KEY,
    event_action: action,
    dedup_key: dedupKey,
    payload: { summary: `Backup: ${dedupKey}`, source: 'backup-1', severity: 'error', custom_details: { size: 12 } },
  },
}).then(
  ({ response, data }) => {
    console.log(JSON.stringify({ status: response.status, data }));
    process.exitCode = response.status === 202 ? 0 : 1;
  },
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
