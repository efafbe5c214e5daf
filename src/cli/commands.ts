// Every command, in the order of the help texts: a new command is one file and one line here.
import { Command } from 'commander'
import { packageVersion } from '../package-root.js'

/** A file of a command: it says what the command is called and takes, and loads the rest when the command runs. */
interface CommandFile { register (parent: Command): void }

interface Group {
  name: string
  description: string
  commands: Array<Promise<CommandFile>>
  groups?: Group[]
}

const alone: Array<Promise<CommandFile>> = [
  import('./start.js'),
  import('./roles.js'),
  import('./event-store/event-store.js'),
  import('./migrate.js'),
  import('./demo.js'),
  import('./doctor/doctor.js'),
  import('./token/token.js'),
  import('./completion/completion.js'),
  import('./backup/backup.js'),
  import('./backup/restore.js')
]

const groups: Group[] = [
  {
    name: 'catalog',
    description: 'voices, languages, models, campaigns and phone numbers',
    commands: [import('./catalog/import.js')]
  },
  {
    name: 'calls',
    description: 'completed calls',
    commands: [import('./calls/complete.js')]
  },
  {
    name: 'projections',
    description: 'read models',
    commands: [
      import('./projections/list.js'),
      import('./projections/replay.js'),
      import('./projections/verify.js'),
      import('./projections/rollback.js'),
      import('./projections/drop.js'),
      import('./projections/pause.js')
    ],
    groups: [{
      name: 'quarantine',
      description: 'events that a projection cannot take, and what to do about them',
      commands: [
        import('./quarantine/list.js'),
        import('./quarantine/show.js'),
        import('./quarantine/retry.js'),
        import('./quarantine/skip.js'),
        import('./quarantine/resume.js')
      ]
    }]
  },
  {
    name: 'events',
    description: 'the log: copy it to another event store, export it to a file, import it',
    commands: [
      import('./events/copy.js'),
      import('./events/export.js'),
      import('./events/import.js'),
      import('./events/adopt.js'),
      import('./events/mark.js')
    ]
  },
  {
    name: 'webhooks',
    description: 'deliveries: what became of them, and sending them again',
    commands: [
      import('./webhooks/list.js'),
      import('./webhooks/show.js'),
      import('./webhooks/redeliver.js'),
      import('./webhooks/recover.js'),
      import('./webhooks/stats.js'),
      import('./webhooks/resume.js')
    ]
  },
  {
    name: 'person',
    description: 'what is known of a person',
    commands: [import('./person/export.js'), import('./person/erase.js')]
  },
  {
    name: 'secrets',
    description: 'what SECRET_KEY encrypts and derives',
    commands: [import('./secrets/alert.js'), import('./secrets/reseal.js')]
  },
  {
    name: 'ids',
    description: 'the sequences that ids come from',
    commands: [import('./ids/check.js'), import('./ids/reseed.js')]
  }
]

/** The program with every command. */
export async function commandLine (): Promise<Command> {
  const program = new Command('ringledger')
    .description('Event-sourced backend of a voice-calling product. Settings come from the environment and from .env: see .env.example.')
    .version(packageVersion)
    .showHelpAfterError()
  for (const file of await Promise.all(alone)) file.register(program)
  for (const group of groups) await addGroup(program, group)
  return program
}

async function addGroup (parent: Command, { name, description, commands, groups = [] }: Group): Promise<void> {
  const command = parent.command(name).description(description)
  for (const file of await Promise.all(commands)) file.register(command)
  for (const group of groups) await addGroup(command, group)
}
