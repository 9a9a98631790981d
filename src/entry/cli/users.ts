import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

import { type Command, InvalidArgumentError, Option } from 'commander';

import { createReset } from '#modules/accounts/operations/password_resets.ts';
import { resetSecondFactor } from '#modules/accounts/operations/reset_second_factor.ts';
import { addMember } from '#modules/organizations/operations/add_member.ts';
import { changeRole } from '#modules/organizations/operations/members.ts';
import { hashPassword, passwordFault } from '#auth/passwords.ts';
import { getOrganization, runAsOperator, withStores } from '#entry/cli/with_stores.ts';
import { mailAddress, notBlank, print, tableOf } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { isRole, type Role, ROLES } from '#kernel/permissions.ts';
import type { UserRow } from '#modules/accounts/store/people_store.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Reads a password that must not be in the arguments, which every user of the machine can see: typed at a prompt that
 * does not show it, or the first line of standard input. Throws `invalid_input` if there is none.
 */
async function readPassword(): Promise<string> {
  const { stdin, stderr } = process;
  const isTyped = stdin.isTTY;
  if (isTyped) stderr.write('Password: ');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: isTyped });
  try {
    for await (const line of lines) if (line !== '') return line;
  } finally {
    lines.close();
    if (isTyped) stderr.write('\n');
  }
  throw new AppError(
    'invalid_input',
    'give the password by standard input, or run the command at a terminal to type it',
  );
}

/** Scripts that cannot write to standard input give the password among the arguments. */
interface PasswordArgument {
  readonly password?: string;
}

interface Json {
  readonly json?: true;
}

const PASSWORD_IS_SEEN =
  'tocsin: everybody on this machine can see a password among the arguments; give it by standard input, or type it\n';

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('people');
  user
    .command('create')
    .description(
      'create a user as a member of an organization, with the password typed or read from standard input; a person who already has an account joins with it',
    )
    .requiredOption('--email <email>', 'mail address, the name to sign in with', mailAddress)
    .requiredOption('--name <name>', 'name as others see it', notBlank)
    .requiredOption('--org <id>', 'organization to belong to')
    .addOption(roleOption())
    .addOption(new Option('--password <text>', 'can be seen by everybody on this machine').hideHelp())
    .option('--json', 'print JSON: userId, organizationId')
    .action(async ({ json, password, ...wanted }: Omit<WantedUser, 'password'> & PasswordArgument & Json) => {
      if (password !== undefined) process.stderr.write(PASSWORD_IS_SEEN);
      const { userId, isNew } = await createUser({ ...wanted, password: password ?? (await readPassword()) });
      const text = isNew
        ? `Created the user ${userId} as ${wanted.role}.`
        : `Made the user ${userId} a member as ${wanted.role}.`;
      print(json, { userId, organizationId: wanted.org }, text);
      if (!isNew) {
        process.stderr.write(
          `tocsin: ${wanted.email} had an account before; its name and password are as they were. ` +
            `"tocsin user password --email ${wanted.email}" makes a link that sets a new password.\n`,
        );
      }
    });
  user
    .command('role')
    .description('give a member another role, from the next request on; an organization always keeps an owner')
    .requiredOption('--email <email>', 'mail address or id of the member')
    .requiredOption('--org <id>', 'organization the role is in')
    .addOption(roleOption())
    .option('--json', 'print JSON: userId, organizationId, role, warnings')
    .action(async ({ email, org, role, json }: { email: string; org: string; role: Role; json?: true }) => {
      const { userId, warnings } = await runAsOperator(changeRole, async (stores) => {
        const orgId = await getOrganization(stores, org);
        const { id } = await getMember(stores, orgId, email);
        return { orgId, input: { userId: id, role } };
      });
      const text = `The user ${userId} is ${role} of ${org} from now on.`;
      print(json, { userId, organizationId: org, role, warnings }, [text, ...warnings].join('\n'));
    });
  user
    .command('list')
    .description('list people with their ids, once for each organization they belong to')
    .option('--org <id>', 'only the members of this organization')
    .option('--json', 'print JSON: users, each with userId, name, email, organizationId, role')
    .action(async ({ org, json }: { org?: string; json?: true }) => {
      const places = await withStores(async ({ stores }) => {
        return await stores.people.listPlaces(org === undefined ? null : await getOrganization(stores, org));
      });
      const users = places.map(({ orgId, ...place }) => ({ ...place, organizationId: orgId }));
      const rows = users.map(({ userId, name, email, organizationId, role }) => {
        return [userId, name, email, organizationId ?? 'in none', role ?? ''];
      });
      print(json, { users }, tableOf(['USER', 'NAME', 'E-MAIL', 'ORGANIZATION', 'ROLE'], rows));
    });
  user
    .command('reset-second-factor')
    .description('remove every second factor of somebody who has lost them; the password alone then signs in')
    .requiredOption('--email <email>', 'mail address of the user', mailAddress)
    .option('--json', 'print JSON: userId, reset')
    .action(async ({ email, json }: { email: string; json?: true }) => {
      const userId = await withStores(async (command) => {
        const user = await command.stores.people.findUserByEmail(email);
        if (user === null) throw new AppError('not_found', `there is no user ${email}`);
        await resetSecondFactor(command, user.id, command.by);
        return user.id;
      });
      print(json, { userId, reset: true }, `The user ${userId} has no second factor any more, and is signed out.`);
    });
  user
    .command('password')
    .description('print a link by which a user sets a new password, once, within an hour')
    .requiredOption('--email <email>', 'mail address of the user', mailAddress)
    .option('--json', 'print JSON: userId, link')
    .action(async ({ email, json }: { email: string; json?: true }) => {
      const made = await withStores(async (command) => {
        const user = await command.stores.people.findUserByEmail(email);
        if (user === null) throw new AppError('not_found', `there is no user ${email}`);
        const { link } = await createReset(
          command,
          user.id,
          { baseUrl: command.config.baseUrl, isMailed: false },
          command.by,
        );
        return { userId: user.id, link };
      });
      print(json, made, made.link);
    });
}

/** Returns the user of the organization with this mail address or id. */
export async function getMember({ people }: Stores, orgId: Id<'org'>, emailOrId: string): Promise<Member> {
  const user = emailOrId.includes('@') ? await people.findUserByEmail(emailOrId) : { id: asId('user', emailOrId) };
  const role = user === null ? null : await people.findRole(orgId, user.id);
  if (user === null || role === null) {
    throw new AppError(
      'not_found',
      `the organization ${orgId} has no user ${emailOrId}; "tocsin user list --org ${orgId}" shows those it has`,
    );
  }
  return { id: user.id, role };
}

interface Member {
  readonly id: Id<'user'>;
  readonly role: Role;
}

interface WantedUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly org: string;
  readonly role: Role;
}

async function createUser({
  email,
  name,
  password,
  org,
  role,
}: WantedUser): Promise<{ userId: string; isNew: boolean }> {
  const fault = await passwordFault(password, { email, name });
  if (fault !== null) throw new AppError('invalid_input', `the password ${fault}`);
  const passwordHash = await hashPassword(password);
  return await withStores(async (command) => {
    const { stores, by } = command;
    const orgId = await getOrganization(stores, org);
    const existing = await stores.people.findUserByEmail(email);
    if (existing !== null) await refuseMember(stores, orgId, existing);
    const userId = await addMember(command, orgId, existing ?? { email, name, passwordHash }, role, by);
    return { userId, isNew: existing === null };
  });
}

/** Throws if the user is a member of the organization: members are changed by the commands for that only. */
async function refuseMember({ people }: Stores, orgId: Id<'org'>, { id, email }: UserRow): Promise<void> {
  const role = await people.findRole(orgId, id);
  if (role === null) return;
  throw new AppError(
    'conflict',
    `${email} is a member of ${orgId} already, as ${role}; nothing was changed. ` +
      `"tocsin user role --email ${email} --org ${orgId} --role …" changes the role, ` +
      `"tocsin user password --email ${email}" makes a link that sets a new password`,
  );
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the user may do there')
    .choices(ROLES)
    .argParser((text) => {
      if (!isRole(text)) throw new InvalidArgumentError(`Allowed choices are ${ROLES.join(', ')}.`);
      return text;
    })
    .makeOptionMandatory();
}
