/** `praxis secret …`: the secret key that the database belongs to. */
import { rotateSecretKey } from '../../../keys/rotate.ts';
import type { Command } from '../../command.ts';

export const secretCommands: readonly Command[] = [
  {
    name: 'secret show',
    summary: 'Show the fingerprint of the secret key that the database belongs to, and where the key is kept',
    arguments: [],
    options: {},
    async run(context) {
      const { owning, given } = (await context.platform()).keys;
      const place = owning === given.current ? given.place : 'PRAXIS_SECRET_KEY_PREVIOUS';
      context.print(`${owning.fingerprint} in ${place}`);
    },
  },
  {
    name: 'secret rotate',
    summary:
      'Let the database belong to PRAXIS_SECRET_KEY instead of PRAXIS_SECRET_KEY_PREVIOUS, or to a new key in its file',
    arguments: [],
    options: {},
    async run(context) {
      const platform = await context.platform();
      const { fingerprint, isChanged, previousFile } = await platform.asOwner(
        async (owner) => await rotateSecretKey(owner, platform.keys),
      );
      context.print(`the database belongs to the secret key ${fingerprint}${isChanged ? '' : ' already'}`);
      const before =
        previousFile === undefined
          ? 'The key before is needed by no node any more: take PRAXIS_SECRET_KEY_PREVIOUS away.'
          : `The key before is in ${previousFile}.`;
      context.progress(`${before} Keep it elsewhere as long as backups that were made under it.\n`);
    },
  },
];
