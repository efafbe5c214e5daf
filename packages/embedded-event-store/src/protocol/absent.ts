// The services of EventStoreDB that are not here.
import type { ServiceDefinition } from '@grpc/grpc-js'
import { MonitoringService } from '@eventstore/db-client/generated/monitoring_grpc_pb.js'
import { OperationsService } from '@eventstore/db-client/generated/operations_grpc_pb.js'
import { PersistentSubscriptionsService } from '@eventstore/db-client/generated/persistent_grpc_pb.js'
import { ProjectionsService } from '@eventstore/db-client/generated/projections_grpc_pb.js'
import { UsersService } from '@eventstore/db-client/generated/users_grpc_pb.js'

const { startScavenge: _isHere, ...otherOperations } = OperationsService

export const absentServices: ReadonlyArray<{ name: string, service: ServiceDefinition }> = [
  { name: 'Persistent subscriptions', service: { ...PersistentSubscriptionsService } },
  { name: 'Projections', service: { ...ProjectionsService } },
  { name: 'Users', service: { ...UsersService } },
  { name: 'Operations', service: otherOperations },
  { name: 'Monitoring', service: { ...MonitoringService } }
]
