import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

/** What begins like a secret and never ends, or ends at once. */
const SHAPES = [
  'token=',
  '=',
  ':',
  '::::a@',
  'eyJ-',
  'eyJa.eyJa',
  'a.a=',
  '"token":"',
  "token:'",
  'Bearer ',
  '4111 ',
  '1-',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  'http://a:',
  'http://',
  'sk_live_',
  'Cookie: ',
  'a',
  '@',
  'password',
  'otp 1',
  'login code for a ',
  'password "1',
  'password is 1',
  'mysql -',
  'sshpass x -p ',
  "'a':{'key':",
  'id=1&',
  '(a,token)=(',
  "(token)values('",
  '(token)=(1),(',
  '<a value=" name="token" ',
  '%22token%22%3A%22',
  '"."',
  '密码',
  'a_token ',
  'password1 a1',
  'Some(',
  'name: token\n',
  "duplicate entry 'a' for key '",
  '{token, <<',
];

export default Object.fromEntries(
  SHAPES.map((shape) => [
    shape,
    (length) => {
      const text = shape.repeat(length / shape.length);
      return () => withoutSecrets(text);
    },
  ]),
) satisfies Workloads;
