import { type AboutPerson, passwordFault } from '#auth/password_rules.ts';
import { hashPassword } from '#auth/passwords.ts';
import { invalidInput } from '#kernel/errors.ts';

/** Returns the hash of a new password; throws `invalid_input` at `path` with the reason for which it is refused. */
export async function hashNewPassword(path: string, password: string, about: AboutPerson): Promise<string> {
  const fault = await passwordFault(password, about);
  if (fault !== null) throw invalidInput([{ path, message: fault }]);
  return await hashPassword(password);
}
