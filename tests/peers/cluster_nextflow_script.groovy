// Parses a Nextflow workflow with Groovy, on which its language is based, and prints the script of a process:
//
//   groovy cluster_nextflow_script.groovy MAIN.nf PROCESS [NAME=VALUE...]
//
// The values are the process's inputs and directives (task.cpus). Nextflow's own handling of directives, inputs,
// outputs and the workflow block is not tested, only that Groovy parses them.
abstract class WorkflowScript extends Script {
    static final Map<String, Closure> PROCESSES = [:]
    static final Map<String, Object> VALUES = [params: [:], task: [exitStatus: 0, attempt: 1]]

    // To Groovy, "process NAME { ... }" is process(NAME({ ... })), and a directive or an input is a call too.
    def methodMissing(String name, arguments) {
        if (arguments.length == 1 && arguments[0] instanceof Closure && name == name.toUpperCase())
            PROCESSES[name] = arguments[0]
        null
    }
}

// A name without a value stands for itself: "val shard".
class Names extends Binding {
    Object getVariable(String name) { WorkflowScript.VALUES.containsKey(name) ? WorkflowScript.VALUES[name] : name }
    boolean hasVariable(String name) { true }
}

def configuration = new org.codehaus.groovy.control.CompilerConfiguration()
configuration.scriptBaseClass = WorkflowScript.name
def workflow = new GroovyShell(WorkflowScript.classLoader, new Names(), configuration).parse(new File(args[0]))
workflow.run()
for (word in args.drop(2)) {
    def (name, value) = word.split('=', 2)
    if (name.startsWith('task.')) WorkflowScript.VALUES.task[name - 'task.'] = value
    else WorkflowScript.VALUES[name] = value
}
def process = WorkflowScript.PROCESSES[args[1]]
if (process == null) throw new IllegalArgumentException("no process ${args[1]}: ${WorkflowScript.PROCESSES.keySet()}")
println process.call().toString()
