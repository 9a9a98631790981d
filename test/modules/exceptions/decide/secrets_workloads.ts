import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';
import { sweep } from '#test/kit/properties.ts';

/** Texts that begin like a secret and never end, or end at once. */
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
  'a:a@tcp',
  'a/a@//a',
  'jdbc:oracle:thin:a/',
  'http://aA1aaaaaaaaaaaaa@',
  'net user a ',
  'vault login -a ',
  'setx token',
  'htpasswd -b a a ',
  'echo a |',
  's:1:"token";s:1:"',
  'set password for ',
  'sp_addlogin a, ',
  "token in ('a',",
  'create user a identified by ',
  'AUTH a ',
  'ACL SETUSER a ',
  'aes_encrypt(a, ',
  'token is ',
  'api key ',
  '?code=a1',
  "['a', '-a', ",
  "['-a', '",
  'token: |\n a\n',
  'token: |\n',
  'Private-Lines: 1\n',
  '[]string{',
  '<a name="token">',
];

/** Beginnings of what may hold a secret, each with what is repeated behind it and may be read in more than one way. */
const BEGUN = ['(token)values(', '(token)=(', 'token in (', 'token=', 'curl -u ', '{"token":', 'Cookie: '].flatMap(
  (begin) => ["'", "''", '"', '\\', "\\'", '(', '[', '=', ' '].map((repeated) => [begin, repeated] as const),
);

export default Object.fromEntries(
  [...SHAPES.map((shape) => ['', shape] as const), ...sweep(BEGUN, 4)].map(([begin, repeated]) => [
    begin + repeated,
    (length) => {
      const text = begin + repeated.repeat(length / repeated.length);
      return () => withoutSecrets(text);
    },
  ]),
) satisfies Workloads;
