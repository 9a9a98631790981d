const { createRequire } = require('node:module');

/** A job as users of `opsgenie-sdk` write it: `opsgenie_sdk.cjs create ALIAS`. */
const opsgenie = createRequire(`${process.env.PACKAGES}/`)('opsgenie-sdk');
const [, , action, alias] = process.argv;
opsgenie.configure({ api_key: process.env.API_KEY, host: process.env.HOST_URL });

const done = (error, answer) => {
  console.log(JSON.stringify(error ?? answer));
  process.exitCode = error ? 1 : 0;
};
if (action === 'create') {
  opsgenie.alertV2.create(
    { message: `Import: ${alias}`, alias, priority: 'P1', tags: ['night'], source: 'import' },
    done,
  );
} else {
  opsgenie.alertV2[action]({ identifier: alias, identifierType: 'alias' }, { note: 'as the job says' }, done);
}
