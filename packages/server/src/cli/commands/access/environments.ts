/** `praxis environment …`: the worlds that paths begin with. */
import {
  createEnvironment,
  createProduct,
  type EnvironmentKind,
  listEnvironments,
} from '../../../tenancy/environments.ts';
import { type Command, splitEntries } from '../../command.ts';
import { printTable } from '../../options.ts';

export const environmentCommands: readonly Command[] = [
  {
    name: 'environment create',
    summary: 'Make an environment',
    arguments: ['NAME'],
    options: {
      realm: { kind: 'value', required: true, description: 'Realm whose client-credentials tokens it takes' },
      kind: {
        kind: 'value',
        description: 'generic-sandbox, practice-sandbox or production',
        default: 'generic-sandbox',
      },
      product: { kind: 'values', description: 'Products it serves; pm when absent' },
    },
    async run(context, input) {
      const { database } = await context.platform();
      const products = splitEntries(input.list('product'));
      // The function checks the kind and names those that exist.
      const kind = input.required('kind') as EnvironmentKind;
      const draft = {
        name: input.argument(0),
        realm: input.required('realm'),
        kind,
        products: products.length > 0 ? products : ['pm'],
      };
      const made = await createEnvironment(database, draft);
      context.print(`environment ${made.name} in realm ${made.realm}`);
    },
  },
  {
    name: 'environment list',
    summary: 'List environments with their realms and products',
    arguments: [],
    options: {},
    async run(context) {
      const { database } = await context.platform();
      const rows = (await listEnvironments(database)).map((each) => [
        each.name,
        each.realm,
        each.kind,
        [...each.products].join(' '),
      ]);
      printTable(context, ['ENVIRONMENT', 'REALM', 'KIND', 'PRODUCTS'], rows);
    },
  },
  {
    name: 'product create',
    summary: 'Add a product to an environment',
    arguments: ['ENVIRONMENT', 'PRODUCT'],
    options: {},
    async run(context, input) {
      const { database } = await context.platform();
      await createProduct(database, input.argument(0), input.argument(1));
      context.print(`product ${input.argument(1)} in ${input.argument(0)}`);
    },
  },
];
