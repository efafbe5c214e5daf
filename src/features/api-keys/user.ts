export { UserId } from '../../domain/json.js'
