// Nextflow: splits a directory into shards, with a task for each. Copy it to the directory that contains in/,
// and run there:
//
//   nextflow run main.nf -resume
//
// On Slurm, add -process.executor slurm. Exits with 0 only if every image is done. A second run only does
// what is left: finished tasks do not run again, the others process missing images. To include images added
// to or fixed in in/ later, run without -resume.
params.shards = 8
params.input = 'in'          // on a file system that all nodes see, like the others
params.output = 'out'
params.reports = 'reports'   // one file per shard with a line per image
params.options = '--recursive --format png'   // for a GPU: --device cuda, and accelerator below

process SHARD {
    cpus 4
    memory '4 GB'
    time '4h'
    // accelerator 1         // on Slurm: clusterOptions '--gres=gpu:1'
    errorStrategy { task.exitStatus > 128 ? 'retry' : 'finish' }   // retry if killed
    maxRetries 2

    input:
    tuple val(shard), val(input), val(output), val(reports)

    output:
    val shard

    // 1: an image failed, which SUMS reports; the others are done.
    script:
    """
    mkdir -p '${reports}'
    code=0
    imgpipe '${input}' '${output}' ${params.options} --quiet --skip-existing --threads ${task.cpus} \\
      --shard ${shard}/${params.shards} --report '${reports}/${shard}-of-${params.shards}.ndjson' || code=\$?
    [ \$code -le 1 ] || exit \$code
    """
}

process SUMS {
    cache false
    debug true

    input:
    val shards
    val reports

    script:
    """
    imgpipe report '${reports}'/*.ndjson
    """
}

workflow {
    // Tasks run in their own directories, so make the paths absolute.
    def names = [params.input, params.output, params.reports]
    def paths = names.collect { name -> file(name).toAbsolutePath().toString() }
    SHARD(channel.of(1..params.shards).map { shard -> [shard] + paths })
    SUMS(SHARD.out.collect(), paths[2])
}
