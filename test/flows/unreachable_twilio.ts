/** SMS and calls are set up, and no message is ever sent, as nobody's server is at this address. */
export const UNREACHABLE_TWILIO = {
  twilioAccountSid: `AC${'0'.repeat(32)}`,
  twilioAuthToken: 'token of the test account',
  twilioFrom: '+15005550006',
  twilioApiBase: 'http://127.0.0.1:9',
};
