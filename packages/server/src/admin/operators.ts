/**
 * Who of the operators does what no session alone is enough for: it proves itself by its password, also on the command line, where
 * nobody is signed in.
 */
import type { Fields } from '../actions/schema.ts';
import { sql } from '../database/sql.ts';
import type { AdminContext } from './context.ts';
import { refuseField } from './input.ts';
import { passwordLengthMax } from './password-rules.ts';
import { isPasswordOf } from './sign-in.ts';

/** Fields of actions that ask for it. */
export const operatorFields = {
  operator: {
    kind: 'text',
    lengthMax: 63,
    noted: true,
    description: 'Your username. It is needed on the command line alone.',
  },
  password: {
    kind: 'text',
    lengthMax: passwordLengthMax,
    required: true,
    secret: true,
    description: 'Your password.',
  },
} as const satisfies Fields;

/**
 * The username of the operator who asks.
 * @throws PraxisError `rule-broken` where it is not said who asks, or the password is not that of this operator; `rate-exceeded` after
 *   too many wrong ones
 */
export async function requireOperator(
  context: AdminContext,
  { operator, password }: { readonly operator?: string; readonly password: string },
): Promise<string> {
  const { caller, database } = context;
  const username = caller.kind === 'command' ? operator : caller.username;
  if (username === undefined) return refuseField('operator', 'operator is missing: say which operator you are');
  if (operator !== undefined && operator !== username)
    return refuseField('operator', `operator is not ${username}, who is signed in`);
  const isRight = await isPasswordOf(context, username, password);
  const [found] = await database.query(
    sql`SELECT id FROM administrator WHERE username = ${username} AND role = 'operator' AND state = 'active'`,
  );
  if (!isRight || found === undefined) return refuseField('password', 'password is not that of this operator');
  return username;
}
